import { createHash } from 'node:crypto';
import { invalidField } from '@causeway/proto';

/**
 * Places in a company's lists as opaque texts. They are not secret: a query binds its company itself, and a made-up place
 * is only another place. The list's name holds its filters, so a cursor is refused with others.
 */
export const sealCursor = (companyId: number, list: string, place: readonly number[]): string =>
  Buffer.from(JSON.stringify([markOf(companyId, list), ...place])).toString('base64url');

/** @throws Problem `invalid_request` unless it was made for this company and list, with as many numbers. */
export const openCursor = (
  companyId: number,
  list: string,
  cursor: string,
  count: number,
): readonly number[] => {
  const [mark, ...numbers] = parse(Buffer.from(cursor, 'base64url').toString());
  const place = numbers.filter((number) => Number.isSafeInteger(number)) as number[];
  if (typeof mark !== 'string' || place.length === 0 || place.length < numbers.length)
    throw invalidField('cursor', 'invalid_characters', 'invalid cursor');
  if (place.length === count && sealCursor(companyId, list, place) === cursor) return place;
  throw invalidField('cursor', 'must_agree', 'invalid cursor: it belongs to another list, or other filters');
};

const parse = (text: string): readonly unknown[] => {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
};

const markOf = (companyId: number, list: string): string =>
  createHash('sha256').update(`${companyId} ${list}`).digest('base64url').slice(0, 8);
