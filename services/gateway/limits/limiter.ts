import { type Bucket, type CompanyEntry, type KeyEntry, type LimitName, limitPolicy } from '@causeway/proto';
import type { Counter } from './counter.ts';
import { companySlot, keySlot, memberSlot } from './counts.ts';

interface Limit {
  readonly name: LimitName;
  readonly slot: number;
  readonly limit: number;
  /** Of a temporary limit of the company. */
  readonly untilMs?: number;
}

export interface Limits {
  readonly own: Limit;
  /** Over all keys of the company; null: none. */
  readonly company: Limit | null;
}

export interface Verdict {
  readonly admitted: boolean;
  /** The limit that refused the request, else the request's own. */
  readonly name: LimitName;
  readonly limit: number;
  /** Requests counted against this limit in the window, including this request. */
  readonly used: number;
  readonly resetSeconds: number;
}

interface Used {
  /** In the order of the slots. */
  readonly used: readonly number[];
  readonly resetSeconds: number;
}

export interface Limiter {
  /** Counts one request, whether it is admitted or not. @throws CountError if it could not be counted. */
  take(limits: Limits): Promise<Verdict>;
  /** Reads the current window without counting. @throws CountError */
  used(slots: readonly number[]): Promise<Used>;
  /** As far as this gateway has seen. The owner's count decides. */
  likelyRefused(limits: Limits): boolean;
}

export const createLimiter = (counter: Counter, clock: () => number = Date.now): Limiter => {
  let currentWindow = 0;
  let reached = new Set<number>();
  const enterWindow = (): number => {
    const window = windowOf(clock());
    if (window !== currentWindow) {
      currentWindow = window;
      reached = new Set();
    }
    return window;
  };

  const likelyRefused: Limiter['likelyRefused'] = ({ own, company }) => {
    enterWindow();
    return reached.has(own.slot) || (company !== null && reached.has(company.slot));
  };

  return {
    likelyRefused,
    used: async (slots) => {
      const window = enterWindow();
      return { used: await counter.read(window, slots), resetSeconds: windowEndSeconds(window) };
    },
    take: async (limits) => {
      const { own: keyLimit, company } = limits;
      const window = enterWindow();
      const positions = await counter.count({
        window,
        slot: keyLimit.slot,
        limit: keyLimit.limit,
        companySlot: company?.slot ?? 0,
        deferrable: likelyRefused(limits),
      });
      const beyondOwn = positions.own > keyLimit.limit;
      const beyondCompany = !beyondOwn && company !== null && positions.company > company.limit;
      const { name, limit, slot } = beyondCompany ? company : keyLimit;
      const admitted = !beyondOwn && !beyondCompany;
      if (!admitted && window === currentWindow) reached.add(slot);
      const used = beyondCompany ? positions.company : positions.own;
      return { admitted, name, limit, used, resetSeconds: windowEndSeconds(window) };
    },
  };
};

/** Fixed windows, aligned to the UTC minute (contract, "Rate limits"). */
const windowSeconds = 60;
export const windowName = '1m';

/** Minutes since 1970. */
export const windowOf = (timeMs: number): number => Math.floor(timeMs / (windowSeconds * 1000));

export const windowEndSeconds = (window: number): number => (window + 1) * windowSeconds;

/** Requests per minute. */
export interface DefaultLimits {
  readonly read: number;
  readonly write: number;
  readonly admin: number;
  /** Undefined if lookups count as reads. */
  readonly lookup: number | undefined;
  /** A multiple of the company's limit for one key, over all its keys. */
  readonly companyFactor: number;
  readonly portal: number;
}

export const countedIn = (
  bucket: Bucket,
  key: KeyEntry,
  company: CompanyEntry | undefined,
  defaults: DefaultLimits,
): Bucket =>
  bucket === 'lookup' &&
  key.limits?.lookup === undefined &&
  company?.limits?.lookup === undefined &&
  defaults.lookup === undefined
    ? 'read'
    : bucket;

/** A key's own limit, else its company's, else the configured limit; and the company's ceiling. */
export const keyLimits = (
  bucket: Bucket,
  key: KeyEntry,
  company: CompanyEntry | undefined,
  defaults: DefaultLimits,
): Limits => {
  const { companyId } = key;
  const ofKey = key.limits?.[bucket];
  const { temporary } = company ?? {};
  const isTemporary = ofKey === undefined && temporary?.limits[bucket] !== undefined;
  // If only the key has a limit for lookups, it is the company's limit too.
  const ofCompany = company?.limits?.[bucket] ?? defaults[bucket] ?? ofKey ?? defaults.read;
  return {
    own: {
      name: bucket,
      slot: keySlot(key.id, bucket),
      limit: ofKey ?? ofCompany,
      ...(isTemporary && { untilMs: temporary.untilMs }),
    },
    company: {
      name: companyNames[bucket],
      slot: companySlot(companyId, bucket),
      limit: ofCompany * defaults.companyFactor,
    },
  };
};

const companyNames = {
  read: 'company-read',
  write: 'company-write',
  admin: 'company-admin',
  lookup: 'company-lookup',
} as const satisfies Record<Bucket, LimitName>;

export const memberLimits = (memberId: number, defaults: DefaultLimits): Limits => ({
  own: { name: 'portal', slot: memberSlot(memberId), limit: defaults.portal },
  company: null,
});

/**
 * The interface's five headers, and the two of draft-ietf-httpapi-ratelimit-headers-11, whose `t` is the
 * seconds until the window ends. @param untilMs when a temporary limit ends, which is announced too
 */
export const limitHeaders = (verdict: Verdict, nowMs: number, untilMs?: number): readonly Header[] => {
  const { name, limit, used, resetSeconds } = verdict;
  const remaining = Math.max(0, limit - used);
  const fixed = fixedHeaders(name, limit);
  return [
    fixed.limit,
    ['X-RateLimit-Remaining', String(remaining)],
    ['X-RateLimit-Reset', String(resetSeconds)],
    windowHeader,
    fixed.policy,
    fixed.draftPolicy,
    ['RateLimit', `"${name}";r=${remaining};t=${Math.max(0, Math.ceil(resetSeconds - nowMs / 1000))}`],
    ...(untilMs ? [['X-RateLimit-Until', new Date(untilMs).toISOString()] as const] : []),
  ];
};

export type Header = readonly [name: string, value: string];

const windowHeader: Header = ['X-RateLimit-Window', windowName];

/** There are few names and limits. */
const fixedHeaders = (name: LimitName, limit: number): FixedHeaders => {
  const id = `${name}:${limit}`;
  const fixedLimits = fixedById.get(id);
  if (fixedLimits) return fixedLimits;
  const fresh: FixedHeaders = {
    limit: ['X-RateLimit-Limit', String(limit)],
    policy: ['X-RateLimit-Policy', limitPolicy(name, limit, windowName)],
    draftPolicy: ['RateLimit-Policy', `"${name}";q=${limit};w=${windowSeconds}`],
  };
  if (fixedById.size < maxFixed) fixedById.set(id, fresh);
  return fresh;
};

const maxFixed = 1000;
const fixedById = new Map<string, FixedHeaders>();

interface FixedHeaders {
  readonly limit: Header;
  readonly policy: Header;
  readonly draftPolicy: Header;
}
