import { z } from 'zod';
import { type Detail, invalidField, Problem } from '../errors.ts';
import {
  type BodyOf,
  type HttpOperation,
  type KeyOperation,
  type Operation,
  paramsIn,
  type QueryOf,
} from '../operation.ts';
import { echo, isBlank } from '../schemas/values.ts';
import { details, explain, extraOf } from './issues.ts';
import { readJsonObject } from './json.ts';
import { isReadOnly, setAside } from './read-only.ts';
import { maxDetails } from './scan-json.ts';

export interface ReadResult<Value> {
  readonly value?: Value;
  /** At most one for each field. */
  readonly problems: readonly Detail[];
  readonly extra?: Problem['extra'];
  readonly valid: () => Partial<Value>;
}

export type Fields = Readonly<Record<string, unknown>>;

export const readQuery = <O extends { readonly query: z.ZodType | null }>(
  { query: schema }: O,
  raw: string,
): ReadResult<QueryOf<O>> => {
  if (schema === null && raw === '') return nothingToRead as ReadResult<QueryOf<O>>;
  return whole(() => {
    const { names, lists } = fieldKinds(schema);
    const { values, problems } = readQueryString(raw, lists);
    const rest: Record<string, unknown> = { ...values };
    // A blank parameter counts as absent, whatever its type (contract, "Requests and errors").
    for (const name of names) {
      const value = values[name];
      if (lists.has(name) && value) rest[name] = [value].flat().filter((one) => !isBlank(one));
      if ([rest[name] ?? ''].flat().every((one) => isBlank(String(one)))) delete rest[name];
    }
    const ofKnown = problems.filter(({ field }) => names.includes(field));
    const asArrays = Object.fromEntries([...lists].map((name) => [`${name}[]`, `repeat ${name} itself`]));
    return read<QueryOf<O>>(schema, rest, ofKnown, { unknown: 'unknown query parameter', hints: asArrays });
  });
};

export type WithBody = Pick<Operation, 'body'> &
  Partial<Pick<HttpOperation, 'method' | 'path'>> &
  Partial<Pick<KeyOperation, 'elsewhere'>>;

export const readBody = <O extends WithBody>(
  operation: O,
  bytes: Uint8Array,
  params: readonly string[],
): ReadResult<BodyOf<O>> => {
  if (operation.body === null) return nothingToRead as ReadResult<BodyOf<O>>;
  return whole(() => {
    const hasPayload = fieldKinds(operation.body).names.includes('payload');
    const { value, problems } = readJsonObject(bytes, hasPayload ? 'payload' : undefined);
    return readFields(operation, value, problems, params);
  });
};

/** Reads a body that is parsed. @param before the problems of its text */
export const readFields = <O extends WithBody>(
  { body: schema, method, path = '', elsewhere }: O,
  value: Fields,
  before: readonly Detail[],
  params: readonly string[],
): ReadResult<BodyOf<O>> => {
  const { names, optionalTexts, nullableTexts, readOnly, records } = fieldKinds(schema);
  const creates = method === 'POST';
  const blankable = creates ? optionalTexts : nullableTexts;
  const rest: Record<string, unknown> = { ...value };
  const problems: Detail[] = before.filter((problem) => !isInexact(problem));
  // A payload takes any value, a field only numbers, about which its own rule says more.
  const inexact = before
    .filter(isInexact)
    .map((problem) =>
      records.has(rootOf(problem.field))
        ? { ...problem, message: `${problem.message}; send it as a string` }
        : problem,
    );
  for (const [at, name] of paramsIn(path).entries())
    if (name in rest && names.includes(name)) {
      if (typeof rest[name] !== 'number' || String(rest[name]) !== params[at])
        problems.push({ field: name, code: 'must_agree', message: `${name} must equal the one in the path` });
      delete rest[name];
    }
  for (const [name, items] of Object.entries(rest))
    if (Array.isArray(items) && items.length > maxItems) {
      const message = `${echo(name)} must have at most ${maxItems} items`;
      problems.push({ field: echo(name), code: 'too_long', message });
      delete rest[name];
    }
  // A blank text is null; on a create null counts as absent (contract, "Requests and errors").
  for (const name of names) {
    if (blankable.has(name) && typeof rest[name] === 'string' && isBlank(rest[name])) rest[name] = null;
    if (creates && rest[name] === null && !records.has(name)) delete rest[name];
    // A required text that an update clears: blank and null get the same message.
    if (rest[name] === null && optionalTexts.has(name) && !nullableTexts.has(name)) rest[name] = '';
  }
  const result = read<BodyOf<O>>(schema, rest, problems, {
    unknown: 'unknown field',
    hints: elsewhere,
    inexact,
  });
  if (result.value) setAside(result.value, readOnly);
  const valid = () => {
    const fields = result.valid();
    setAside(fields, readOnly);
    return fields;
  };
  return { ...result, valid };
};

const nothingToRead: ReadResult<object> = { value: Object.freeze({}), problems: [], valid: () => ({}) };

const read = <Value>(
  schema: z.ZodType | null,
  fields: Fields,
  before: readonly Detail[],
  { unknown, hints = {}, inexact = [] }: ReadOptions,
): ReadResult<Value> => {
  const result = (schema ?? nothing).safeParse(fields, { error: explain, reportInput: true });
  if (result.success && before.length + inexact.length === 0)
    return { value: result.data as Value, problems: [], valid: () => result.data as Value };
  const ofRules = result.error ? details(result.error, unknown, hints) : [];
  const problems = once([...before, ...ofRules, ...inexact]);
  const extra = result.error && extraOf(result.error);
  return {
    problems: unknownFirst(problems).slice(0, maxDetails),
    ...(extra && { extra }),
    valid: () => validFields(schema, fields, problems) as Partial<Value>,
  };
};

interface ReadOptions {
  /** Begins the message about a name that the schema does not have. */
  readonly unknown: string;
  /** What such a message adds about some names. */
  readonly hints?: Readonly<Record<string, string>> | undefined;
  /** Numbers that a double does not hold as written. */
  readonly inexact?: readonly Detail[];
}

/** Among the problems of a text, before its fields are judged. */
const isInexact = ({ code }: Detail): boolean => code === 'out_of_range';

const rootOf = (field: string): string => /^[^.[]*/.exec(field)?.[0] ?? field;

/** Above what any field allows. Arrays within a payload are not checked. */
const maxItems = 1_000;

const whole = <Value>(readIt: () => ReadResult<Value>): ReadResult<Value> => {
  try {
    return readIt();
  } catch (error) {
    if (!(error instanceof Problem) || !error.details) throw error;
    const { details: problems, extra } = error;
    return { problems, ...(extra && { extra }), valid: () => ({}) };
  }
};

const once = (problems: readonly Detail[]): readonly Detail[] => {
  const fields = new Set<string>();
  return problems.filter(({ field }) => {
    if (fields.has(field) || fields.has(rootOf(field))) return false;
    fields.add(field);
    return true;
  });
};

/** Puts unknown fields first: a misspelt name explains a missing one. */
const unknownFirst = (problems: readonly Detail[]): readonly Detail[] => [
  ...problems.filter(isUnknown),
  ...problems.filter((problem) => !isUnknown(problem)),
];

const isUnknown = ({ code }: Detail): boolean => code === 'unknown_field';

const validFields = (schema: z.ZodType | null, fields: Fields, problems: readonly Detail[]): Fields => {
  const valid: Record<string, unknown> = {};
  if (!(schema instanceof z.ZodObject)) return valid;
  for (const [name, field] of Object.entries(schema.shape as Record<string, z.ZodType>)) {
    if (problems.some((problem) => problem.field === name || problem.field.startsWith(`${name}.`))) continue;
    const result = field.safeParse(fields[name]);
    if (result.success && result.data !== undefined) valid[name] = result.data;
  }
  return valid;
};

const nothing = z.strictObject({});

interface FieldKinds {
  readonly names: readonly string[];
  readonly optionalTexts: ReadonlySet<string>;
  readonly nullableTexts: ReadonlySet<string>;
  readonly readOnly: ReadonlySet<string>;
  /** Objects with names of the caller's choice, such as a payload: null is none of them. */
  readonly records: ReadonlySet<string>;
  /** Query parameters that may be repeated. */
  readonly lists: ReadonlySet<string>;
}

const fieldKinds = (schema: z.ZodType | null): FieldKinds => {
  if (!(schema instanceof z.ZodObject)) return noKinds;
  const kinds = kindsOfSchema.get(schema) ?? kindsOf(schema.shape as Shape);
  kindsOfSchema.set(schema, kinds);
  return kinds;
};

type Shape = Readonly<Record<string, z.ZodType>>;

const noKinds: FieldKinds = {
  names: [],
  optionalTexts: new Set(),
  nullableTexts: new Set(),
  readOnly: new Set(),
  records: new Set(),
  lists: new Set(),
};
const kindsOfSchema = new WeakMap<z.ZodType, FieldKinds>();

const kindsOf = (shape: Shape): FieldKinds => {
  const names = Object.keys(shape);
  const namesOf = (is: (schema: z.ZodType) => boolean) =>
    new Set(names.filter((name) => is(shape[name] as z.ZodType)));
  return {
    names,
    optionalTexts: namesOf((schema) => isText(schema) && schema.safeParse(undefined).success),
    nullableTexts: namesOf((schema) => isText(schema) && schema.safeParse(null).success),
    readOnly: namesOf(isReadOnly),
    records: namesOf((schema) => isKind(schema, records)),
    lists: namesOf((schema) => isKind(schema, lists)),
  };
};

const isText = (schema: z.ZodType): boolean => isKind(schema, texts);

const texts: ReadonlySet<string> = new Set(['string', 'enum']);
const records: ReadonlySet<string> = new Set(['record']);
const lists: ReadonlySet<string> = new Set(['array']);

const isKind = (schema: z.core.$ZodType, types: ReadonlySet<string>): boolean => {
  const { def } = schema._zod as z.core.$ZodTypes['_zod'];
  if (types.has(def.type)) return true;
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
      return isKind(def.innerType, types);
    case 'pipe':
      return isKind(def.in, types);
    case 'union':
      return def.options.some((option) => isKind(option, types));
    default:
      return false;
  }
};

interface QueryString {
  /** Several values only of parameters that may be repeated. */
  readonly values: Readonly<Record<string, string | readonly string[]>>;
  readonly problems: readonly Detail[];
}

/** @throws Problem if it is not percent-encoded UTF-8 or contains a NUL: then no parameter can be named. */
export const readQueryString = (raw: string, lists: ReadonlySet<string> = noNames): QueryString => {
  if (raw === '') return noParameters;
  const values: Record<string, string | readonly string[]> = Object.create(null);
  const repeated = new Set<string>();
  for (const part of raw.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decode(equals < 0 ? part : part.slice(0, equals));
    const value = equals < 0 ? '' : decode(part.slice(equals + 1));
    const earlier = values[name];
    if (earlier !== undefined && !lists.has(name)) repeated.add(name);
    values[name] = earlier !== undefined && lists.has(name) ? [earlier, value].flat() : value;
  }
  const problems = [...repeated].map(
    (name): Detail => ({ field: name, code: 'must_agree', message: `${name} must be given only once` }),
  );
  return { values, problems };
};

const noNames: ReadonlySet<string> = new Set();
const noParameters: QueryString = Object.freeze({ values: Object.freeze({}), problems: [] });

const decode = (text: string): string => {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalidField('query', 'invalid_characters', 'the query string must be percent-encoded UTF-8');
  }
  if (decoded.includes('\u0000'))
    throw invalidField('query', 'invalid_characters', 'the query string must not contain a NUL character');
  if (!decoded.isWellFormed())
    throw invalidField('query', 'invalid_characters', 'the query string must be percent-encoded UTF-8');
  return decoded;
};
