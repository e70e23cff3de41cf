interface Mismatch {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly format?: string;
}

/** Ignores unknown keywords and fields. */
export const checkSchema = (schema: unknown, value: unknown): readonly Mismatch[] =>
  check(schema as Schema, value, []);

type Path = readonly (string | number)[];

const check = (schema: Schema, value: unknown, path: Path): Mismatch[] => {
  const say = (message: string): Mismatch[] => [{ path, message }];
  if (schema.anyOf) {
    const tries = schema.anyOf.map((one) => check(one, value, path));
    if (tries.some((found) => found.length === 0)) return [];
    // Reports the closest of several alternatives, never "or null".
    return tries.find((found) => found.some((one) => one.path.length > path.length)) ?? tries[0] ?? [];
  }
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((type) => isOfType(type, value)))
    return say(`should be ${types.map((type) => typeNames[type] ?? type).join(' or ')}`);
  if (schema.enum && !schema.enum.includes(value)) return say(`should be one of ${schema.enum.join(', ')}`);
  if (typeof value === 'number') return checkNumber(schema, value).flatMap(say);
  if (typeof value === 'string') return checkText(schema, value).flatMap(say);
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((item, index) => check(items, item, [...path, index])) : [];
  }
  return isObject(value) ? checkObject(schema, value, path) : [];
};

const checkObject = (schema: Schema, value: Record<string, unknown>, path: Path): Mismatch[] => [
  ...(schema.required ?? [])
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => ({ path, message: `${name} is missing` })),
  ...Object.entries(schema.properties ?? {})
    .filter(([name]) => Object.hasOwn(value, name))
    .flatMap(([name, inner]) => check(inner, value[name], [...path, name])),
];

const checkNumber = (schema: Schema, value: number): string[] => {
  if (schema.minimum !== undefined && value < schema.minimum) return [`should be at least ${schema.minimum}`];
  if (schema.exclusiveMinimum !== undefined && value <= schema.exclusiveMinimum)
    return [`should be greater than ${schema.exclusiveMinimum}`];
  if (schema.maximum !== undefined && value > schema.maximum) return [`should be at most ${schema.maximum}`];
  return [];
};

const checkText = (schema: Schema, value: string): string[] =>
  schema.format === 'date-time' && Number.isNaN(Date.parse(value))
    ? ['should be a time like 2026-01-15T09:30:00Z']
    : [];

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isOfType = (type: string, value: unknown): boolean => {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  return typeof value === type;
};
