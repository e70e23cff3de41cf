import { z } from 'zod';
import { isReadOnly } from './read-only.ts';

/** The names of a schema's fields, by the kinds that parsing treats differently. */
interface FieldKinds {
  readonly names: readonly string[];
  /** Text fields that may be absent, and text fields that may be null. */
  readonly optionalTexts: ReadonlySet<string>;
  readonly nullableTexts: ReadonlySet<string>;
  readonly readOnly: ReadonlySet<string>;
}

/** Empty for a schema that is not a plain object, such as a union of several shapes. */
export const fieldKinds = (schema: z.ZodType | null): FieldKinds => {
  if (!(schema instanceof z.ZodObject)) return none;
  const kinds = known.get(schema) ?? kindsOf(schema.shape as Shape);
  known.set(schema, kinds);
  return kinds;
};

type Shape = Readonly<Record<string, z.ZodType>>;

const none: FieldKinds = {
  names: [],
  optionalTexts: new Set(),
  nullableTexts: new Set(),
  readOnly: new Set(),
};
const known = new WeakMap<z.ZodType, FieldKinds>();

const kindsOf = (shape: Shape): FieldKinds => {
  const names = Object.keys(shape);
  const namesOf = (is: (schema: z.ZodType) => boolean) =>
    new Set(names.filter((name) => is(shape[name] as z.ZodType)));
  return {
    names,
    optionalTexts: namesOf((schema) => isText(schema) && schema.safeParse(undefined).success),
    nullableTexts: namesOf((schema) => isText(schema) && schema.safeParse(null).success),
    readOnly: namesOf(isReadOnly),
  };
};

/** Whether the schema accepts strings, under all its wrappers. */
const isText = (schema: z.core.$ZodType): boolean => {
  const { def } = schema._zod as z.core.$ZodTypes['_zod'];
  switch (def.type) {
    case 'string':
    case 'enum':
      return true;
    case 'optional':
    case 'nullable':
    case 'default':
      return isText(def.innerType);
    case 'pipe':
      return isText(def.in);
    case 'union':
      return def.options.some(isText);
    default:
      return false;
  }
};
