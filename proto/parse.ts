import { z } from 'zod';
import { type Detail, invalid, notFound } from './errors.ts';
import type { BodyOf, QueryOf } from './operation.ts';
import { details, explain, extraOf } from './parse/issues.ts';
import { readJsonObject } from './parse/json-body.ts';
import { readQueryString } from './parse/query-string.ts';

/**
 * The typed query of an operation.
 * @param rawQuery as in the request line, without `?`; `+` stands for a space, as in forms.
 * @throws Problem `invalid_request` with everything that is wrong with it.
 */
export const parseQuery = <O extends { readonly query: z.ZodType | null }>(
  operation: O,
  rawQuery: string,
): QueryOf<O> => {
  const given = readQueryString(rawQuery);
  const problems: Detail[] = [...given.problems];
  const result = (operation.query ?? nothing).safeParse(given.values, { error: explain });
  if (!result.success) problems.push(...details(result.error, 'unknown query parameter'));
  if (problems.length > 0) throw invalid(unknownFirst(problems), result.error && extraOf(result.error));
  return result.data as QueryOf<O>;
};

/**
 * The typed body of an operation. No bytes at all stand for an empty object.
 * @param params the path's parameters in their order: a body may repeat one, under the same name, if it
 * is equal; it is not part of what is returned.
 * @throws Problem `invalid_request` with everything that is wrong with it.
 */
export const parseBody = <
  O extends { readonly body: z.ZodType | null; readonly params?: Readonly<Record<string, string>> },
>(
  operation: O,
  bytes: Uint8Array,
  params: readonly string[] = [],
): BodyOf<O> => {
  const given = operation.body ? readJsonObject(bytes) : {};
  const problems: Detail[] = [];
  const result = (operation.body ?? nothing).safeParse(given, { error: explain });
  if (!result.success) problems.push(...details(result.error, 'unknown field'));
  const repeatable = Object.keys(operation.params ?? {});
  repeatable.forEach((name, at) => {
    if (typeof given[name] === 'number' && String(given[name]) !== params[at])
      problems.push({ field: name, message: `${name} must equal the one in the path` });
  });
  if (!result.success || problems.length > 0)
    throw invalid(unknownFirst(problems), result.error && extraOf(result.error));
  const body = result.data as Record<string, unknown>;
  for (const name of repeatable) delete body[name];
  return body as BodyOf<O>;
};

/**
 * A record's id as a path carries it: 1 to 2^53-1 in plain digits.
 * @param what the kind of record, for the text of the 404.
 * @param least 0 where that stands for a record too.
 * @throws Problem `not_found` for anything else: no record has such an id.
 */
export const parseId = (text: string | undefined, what?: string, least: 0 | 1 = 1): number => {
  const id = text !== undefined && /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id) || id < least) throw notFound(what);
  return id;
};

const nothing = z.strictObject({});

/** A misspelt name explains the missing one, so it is told first. */
const unknownFirst = (problems: readonly Detail[]): readonly Detail[] => [
  ...problems.filter(isUnknown),
  ...problems.filter((problem) => !isUnknown(problem)),
];

const isUnknown = ({ message }: Detail): boolean =>
  message.startsWith('unknown query parameter: ') || message.startsWith('unknown field: ');
