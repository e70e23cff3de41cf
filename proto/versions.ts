import type { KeyOperation } from './operation.ts';

/** The entity tag of a record (contract, "Versions"; RFC 9110, 8.8.3). */
export const entityTag = (version: number): string => `"${version}"`;

/**
 * What must hold for a write: the record has one of these versions (`If-Match`), or a create finds no record to update
 * (`If-None-Match: *`).
 */
export type Condition = readonly number[] | 'absent';

interface Preconditions {
  readonly method: string;
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

/** RFC 9110, 13.1. Tags that are not versions match none. */
export const conditionOf = (
  { versioned }: Pick<KeyOperation, 'versioned'>,
  { method, ifMatch, ifNoneMatch }: Preconditions,
): Condition | undefined => {
  if (!versioned) return undefined;
  if (method === 'POST') return ifNoneMatch?.trim() === '*' ? 'absent' : undefined;
  if (method !== 'PATCH' || ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  return tagsIn(ifMatch).flatMap((tag) => (/^\d{1,10}$/.test(tag) ? Number(tag) : []));
};

/** Whether a read is answered 304. */
export const isUnchanged = (ifNoneMatch: string, tag: string): boolean =>
  ifNoneMatch.trim() === '*' ||
  tagsIn(ifNoneMatch.replaceAll(/(^|,)\s*W\//g, '$1')).includes(tag.slice(1, -1));

/** Without quotes, which people forget. */
const tagsIn = (header: string): readonly string[] =>
  header.split(',').map((tag) => tag.trim().replace(/^"(.*)"$/, '$1'));
