import { z } from 'zod';

export type Json = { [name: string]: unknown };

/**
 * Converts a zod schema to JSON Schema 2020-12, as OpenAPI 3.1 uses it. It describes what a sender writes, before
 * defaults and transformations. Answers allow unknown fields, so that clients generated today accept fields added
 * later.
 * @param componentOf the name under `components.schemas` of a shared schema; it is set as `x-component`.
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

/** Removes redundant keywords that zod adds, marks 64-bit integers, and restores a default that zod leaves out. */
const simplify = (zodSchema: z.core.$ZodType, node: Json): void => {
  if (node.format === 'date-time' || node.format === 'email') delete node.pattern;
  if (node.type === 'object') delete node.propertyNames;
  if (node.enum) delete node.minLength;
  // Generators mistake `const: true` for an identifier or a string, but they know a boolean with one value.
  if (node.type === 'boolean' && 'const' in node) {
    node.enum = [node.const];
    delete node.const;
  }
  if (node.type === 'integer' && node.maximum === Number.MAX_SAFE_INTEGER) node.format = 'int64';
  if (node.minimum === Number.MIN_SAFE_INTEGER) delete node.minimum;
  const shown = z.globalRegistry.get(zodSchema);
  if (shown?.default !== undefined) node.default = shown.default;
};
