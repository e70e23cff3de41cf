import type { Bucket, CompanyEntry, KeyEntry } from '@causeway/proto';
import { limitPolicy } from '@causeway/proto';
import type { Verdict } from './limiter.ts';
import { windowName, windowSeconds } from './window.ts';

/** The configured limits; `lookup` is undefined where lookups count as reads. */
export interface DefaultLimits {
  readonly read: number;
  readonly write: number;
  readonly admin: number;
  readonly lookup: number | undefined;
}

/** The bucket an operation is counted in, under these limits. */
export const countedIn = (bucket: Bucket, limits: DefaultLimits): Bucket =>
  bucket === 'lookup' && limits.lookup === undefined ? 'read' : bucket;

/** A key's own limit, else its company's, else the configured one. */
export const limitOf = (
  bucket: Bucket,
  key: KeyEntry,
  company: CompanyEntry | undefined,
  limits: DefaultLimits,
): number => {
  if (bucket === 'lookup') return limits.lookup ?? limits.read;
  return key.limits?.[bucket] ?? company?.limits?.[bucket] ?? limits[bucket];
};

/**
 * The headers of a counted request: the specification's five, and the two of the IETF draft
 * (draft-ietf-httpapi-ratelimit-headers-11), whose `t` is the seconds until the window ends.
 */
export const limitHeaders = (bucket: Bucket, verdict: Verdict, nowMs: number): readonly Header[] => {
  const { limit, used, resetSeconds } = verdict;
  const remaining = Math.max(0, limit - used);
  const fixed = fixedHeaders(bucket, limit);
  return [
    fixed.limit,
    ['X-RateLimit-Remaining', String(remaining)],
    ['X-RateLimit-Reset', String(resetSeconds)],
    windowHeader,
    fixed.policy,
    fixed.draftPolicy,
    ['RateLimit', `"${bucket}";r=${remaining};t=${Math.max(0, Math.ceil(resetSeconds - nowMs / 1000))}`],
  ];
};

export type Header = readonly [name: string, value: string];

const windowHeader: Header = ['X-RateLimit-Window', windowName];

/** What depends only on bucket and limit, of which there are few, is put together once. */
const fixedHeaders = (bucket: Bucket, limit: number): FixedHeaders => {
  const name = `${bucket}:${limit}`;
  const known = fixedByName.get(name);
  if (known) return known;
  const fresh: FixedHeaders = {
    limit: ['X-RateLimit-Limit', String(limit)],
    policy: ['X-RateLimit-Policy', limitPolicy(bucket, limit, windowName)],
    draftPolicy: ['RateLimit-Policy', `"${bucket}";q=${limit};w=${windowSeconds}`],
  };
  if (fixedByName.size < maxFixed) fixedByName.set(name, fresh);
  return fresh;
};

const maxFixed = 1000;
const fixedByName = new Map<string, FixedHeaders>();

interface FixedHeaders {
  readonly limit: Header;
  readonly policy: Header;
  readonly draftPolicy: Header;
}
