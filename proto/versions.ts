import { invalidField } from './errors.ts';
import type { KeyOperation } from './operation.ts';

/** The entity tag of a record (contract, "Versions"; RFC 9110, 8.8.3). */
export const entityTag = (version: number): string => `"${version}"`;

/**
 * What must hold for a write: the record has one of these versions (`If-Match`), a create finds a record to update
 * (`If-Match: *`), or it finds none (`If-None-Match: *`).
 */
export type Condition = readonly number[] | 'present' | 'absent';

/** In place of the version of a weak tag, which matches no record (RFC 9110, 13.1.1). */
export const weakVersion = -1;

type ConditionalHeader = 'If-Match' | 'If-None-Match';

/** Those that a write takes (contract, "Versions"): it refuses all others. */
export const conditionsTaken = ({
  method,
  versioned,
  isBatch,
}: Pick<KeyOperation, 'method' | 'versioned' | 'isBatch'>): readonly ConditionalHeader[] => {
  if (isBatch) return ['If-None-Match'];
  if (!versioned) return [];
  return method === 'POST' ? ['If-Match', 'If-None-Match'] : ['If-Match'];
};

interface SentConditions {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** The name of another conditional header, which no write takes. */
  readonly otherCondition: string | undefined;
}

/** RFC 9110, 13.1. Tags that are not versions match none. @throws Problem if the write takes no such condition */
export const conditionOf = (
  operation: KeyOperation,
  { otherCondition, ...tags }: SentConditions,
): Condition | undefined => {
  if (operation.method === 'GET') return undefined;
  // Tools that fill in every header leave those of a create blank.
  const present = (tag?: string) => (operation.method === 'POST' && tag === '' ? undefined : tag);
  const [ifMatch, ifNoneMatch] = [present(tags.ifMatch), present(tags.ifNoneMatch)];
  const sent = { 'If-Match': ifMatch, 'If-None-Match': ifNoneMatch };
  const taken = conditionsTaken(operation);
  const refused =
    otherCondition ??
    (['If-Match', 'If-None-Match'] as const).find(
      (name) => sent[name] !== undefined && !taken.includes(name),
    );
  if (refused !== undefined) {
    const more = operation.isBatch && refused === 'If-Match' ? '; give each item its if_version' : '';
    throw invalidField(refused, 'unknown_field', `${refused} is not supported by this operation${more}`);
  }
  if (ifNoneMatch !== undefined) {
    if (ifMatch !== undefined)
      throw invalidField(
        'If-None-Match',
        'must_agree',
        'If-None-Match and If-Match must not be sent together',
      );
    if (ifNoneMatch.trim() !== '*')
      throw invalidField('If-None-Match', 'out_of_range', 'If-None-Match must be * in a write');
    return 'absent';
  }
  if (ifMatch === undefined) return undefined;
  if (ifMatch.trim() === '*') return operation.method === 'POST' ? 'present' : undefined;
  return tagsIn(ifMatch).flatMap((tag) => {
    if (/^W\//.test(tag)) return weakVersion;
    return /^\d{1,10}$/.test(tag) ? Number(tag) : [];
  });
};

/** Whether a read is answered 304. */
export const isUnchanged = (ifNoneMatch: string, tag: string): boolean =>
  ifNoneMatch.trim() === '*' ||
  tagsIn(ifNoneMatch.replaceAll(/(^|,)\s*W\//g, '$1')).includes(tag.slice(1, -1));

/** Without quotes, which people forget. */
const tagsIn = (header: string): readonly string[] =>
  header.split(',').map((tag) => tag.trim().replace(/^"(.*)"$/, '$1'));
