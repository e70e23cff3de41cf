import type { Detail } from '../errors.ts';
import { invalidField } from '../errors.ts';

interface QueryString {
  readonly values: Readonly<Record<string, string>>;
  readonly problems: readonly Detail[];
}

/**
 * Reads `a=1&b=two+words`. A name without `=` has the empty value; empty parts are skipped.
 * @throws Problem if it is not percent-encoded UTF-8 or contains a NUL: then no parameter can be named.
 */
export const readQueryString = (raw: string): QueryString => {
  if (raw === '') return none;
  const values: Record<string, string> = Object.create(null);
  const repeated = new Set<string>();
  for (const part of raw.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decode(equals < 0 ? part : part.slice(0, equals));
    const value = equals < 0 ? '' : decode(part.slice(equals + 1));
    if (name in values) repeated.add(name);
    values[name] = value;
  }
  const problems = [...repeated].map((name) => ({ field: name, message: `${name} must be given only once` }));
  return { values, problems };
};

const none: QueryString = Object.freeze({ values: Object.freeze({}), problems: [] });

const decode = (text: string): string => {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalidField('query', 'the query string must be percent-encoded UTF-8');
  }
  if (decoded.includes('\u0000'))
    throw invalidField('query', 'the query string must not contain a NUL character');
  if (!decoded.isWellFormed()) throw invalidField('query', 'the query string must be percent-encoded UTF-8');
  return decoded;
};
