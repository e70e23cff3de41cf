import type { z } from 'zod';
import { type Detail, invalid, notFound, type Problem } from './errors.ts';
import type { BodyOf, Operation, QueryOf } from './operation.ts';
import { type ReadResult, readBody, readQuery, type WithBody } from './parse/read.ts';

/**
 * @param rawQuery as in the request line, without `?`; `+` stands for a space.
 * @throws Problem `invalid_request` with all its problems.
 */
export const parseQuery = <O extends { readonly query: z.ZodType | null }>(
  operation: O,
  rawQuery: string,
): QueryOf<O> => valueOrThrow(readQuery(operation, rawQuery));

/**
 * An empty body counts as an empty object.
 * @param params the body may repeat a parameter, if it is equal; the returned body leaves it out.
 * @throws Problem `invalid_request` with all its problems.
 */
export const parseBody = <O extends WithBody>(
  operation: O,
  bytes: Uint8Array,
  params: readonly string[] = [],
): BodyOf<O> => valueOrThrow(readBody(operation, bytes, params));

const valueOrThrow = <Value>({ value, problems, extra }: ReadResult<Value>): Value => {
  if (value === undefined) throw invalid(problems, extra);
  return value;
};

/**
 * 1 to 2^53-1 in plain digits. @param what the kind of record. @throws Problem `not_found` for anything else
 */
export const parseId = (text: string | undefined, what?: string, least: 0 | 1 = 1): number => {
  const id = text !== undefined && /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id) || id < least) throw notFound(what);
  return id;
};

type Parsable = Pick<Operation, 'query'> & WithBody;

interface RawCall {
  readonly query: string;
  readonly body: Uint8Array;
  readonly params: readonly string[];
}

interface CallRead<O extends Parsable> {
  readonly query: QueryOf<O> | undefined;
  readonly body: BodyOf<O> | undefined;
  readonly validFields: () => Partial<BodyOf<O>>;
  readonly problems: readonly Detail[];
  readonly extra: Problem['extra'];
}

/**
 * @param more finds further problems in the valid fields. @throws Problem with all problems of query and body
 */
export const parseCall = <O extends Parsable>(
  operation: O,
  sent: RawCall,
  more: (fields: Partial<BodyOf<O>>) => readonly Detail[] = () => [],
): { readonly query: QueryOf<O>; readonly body: BodyOf<O> } => {
  const { query, body, problems, extra, validFields } = readCall(operation, sent);
  const all = [...problems, ...more(validFields())];
  if (query === undefined || body === undefined || all.length > 0) throw invalid(all, extra);
  return { query, body };
};

export const readCall = <O extends Parsable>(operation: O, sent: RawCall): CallRead<O> => {
  const query = readQuery(operation, sent.query);
  const body = readBody(operation, sent.body, sent.params);
  const extra = body.extra || query.extra ? { ...body.extra, ...query.extra } : undefined;
  return {
    query: query.value,
    body: body.value,
    validFields: body.valid,
    problems: [...query.problems, ...body.problems],
    extra,
  };
};
