import { z } from 'zod';

export type Json = { [name: string]: unknown };

/**
 * A zod schema as OpenAPI 3.1 has it (JSON Schema 2020-12), as its sender sees it: before defaults and
 * transformations. Answers are left open, so that a client generated today takes a field added tomorrow.
 * @param componentOf the name of a schema that stands under `components.schemas`; it is set as `x-component`.
 */
export const jsonSchema = (
  schema: z.ZodType,
  componentOf: (schema: z.core.$ZodType) => string | undefined = () => undefined,
): Json => {
  const override = ({ zodSchema, jsonSchema: node }: Converted): void => {
    simplify(zodSchema, node);
    const component = componentOf(zodSchema);
    if (component) node['x-component'] = component;
  };
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input', override }) as Json;
  return rest;
};

interface Converted {
  readonly zodSchema: z.core.$ZodType;
  readonly jsonSchema: Json;
}

/** Drops what zod adds for its own exactness, names 64-bit integers, and restores a default that zod leaves out. */
const simplify = (zodSchema: z.core.$ZodType, node: Json): void => {
  if (node.format === 'date-time' || node.format === 'email') delete node.pattern;
  if (node.type === 'object') delete node.propertyNames;
  if (node.enum) delete node.minLength;
  // Generators write `const: true` as an identifier or a text; a boolean with one value they know.
  if (node.type === 'boolean' && 'const' in node) {
    node.enum = [node.const];
    delete node.const;
  }
  if (node.type === 'integer' && node.maximum === Number.MAX_SAFE_INTEGER) node.format = 'int64';
  if (node.minimum === Number.MIN_SAFE_INTEGER) delete node.minimum;
  const shown = z.globalRegistry.get(zodSchema);
  if (shown?.default !== undefined) node.default = shown.default;
};
