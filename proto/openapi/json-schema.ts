import { z } from 'zod';

export type Json = { [name: string]: unknown };

/**
 * A zod schema as OpenAPI 3.1 has it (JSON Schema 2020-12), as its sender sees it: before defaults and
 * transformations. Answers are left open, so that a client generated today takes a field added tomorrow.
 */
export const jsonSchema = (schema: z.ZodType): Json => {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input', override: simplify }) as Json;
  return rest;
};

interface Converted {
  readonly zodSchema: z.core.$ZodType;
  readonly jsonSchema: Json;
}

/** Takes out what zod adds for its own exactness, and puts back a default that it leaves out. */
const simplify = ({ zodSchema, jsonSchema: node }: Converted): void => {
  if (node.format === 'date-time' || node.format === 'email') delete node.pattern;
  if (node.type === 'object') delete node.propertyNames;
  if (node.enum) delete node.minLength;
  const shown = z.globalRegistry.get(zodSchema);
  if (shown?.default !== undefined) node.default = shown.default;
};
