import type { z } from 'zod';
import { invalid, notFound } from './errors.ts';
import type { BodyOf, QueryOf } from './operation.ts';
import { type Read, readBody, readQuery, type WithBody } from './parse/read.ts';

/**
 * The typed query of an operation.
 * @param rawQuery as in the request line, without `?`; `+` stands for a space, as in forms.
 * @throws Problem `invalid_request` with all its problems.
 */
export const parseQuery = <O extends { readonly query: z.ZodType | null }>(
  operation: O,
  rawQuery: string,
): QueryOf<O> => valueOrThrow(readQuery(operation, rawQuery));

/**
 * The typed body of an operation. An empty body counts as an empty object.
 * @param params the path parameters, in their order. A body whose schema has the name may repeat one, if it is equal;
 * the returned body leaves it out.
 * @throws Problem `invalid_request` with all its problems.
 */
export const parseBody = <O extends WithBody>(
  operation: O,
  bytes: Uint8Array,
  params: readonly string[] = [],
): BodyOf<O> => valueOrThrow(readBody(operation, bytes, params));

const valueOrThrow = <Value>({ value, problems, extra }: Read<Value>): Value => {
  if (value === undefined) throw invalid(problems, extra);
  return value;
};

/**
 * Parses a record's ID in a path: 1 to 2^53-1 in plain digits.
 * @param what the kind of record, for the text of the 404.
 * @param least 0 if 0 is a valid ID too.
 * @throws Problem `not_found` for anything else: no record has such an ID.
 */
export const parseId = (text: string | undefined, what?: string, least: 0 | 1 = 1): number => {
  const id = text !== undefined && /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id) || id < least) throw notFound(what);
  return id;
};
