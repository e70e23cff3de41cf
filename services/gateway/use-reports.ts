import {
  type Bucket,
  buckets,
  type KeyEntry,
  keyUsedSubject,
  maxRequestCounts,
  requestsCountedSubject,
} from '@causeway/proto';
import { type Bus, createTally, type Metrics, type Tally } from '@causeway/runtime';

export interface UseReports {
  used(key: KeyEntry, nowMs: number): void;
  answered(key: KeyEntry, bucket: Bucket, status: number): void;
  flush(): void;
}

/** In the order of `RequestCount`. */
interface RequestSum {
  readonly companyId: number;
  readonly keyId: number;
  readonly bucket: Bucket;
  readonly minute: number;
  answered: number;
  limited: number;
  failed: number;
}

const flushMs = 10_000;
/** While NATS is unreachable, further sums are dropped: they only feed charts. */
const maxSums = 50_000;
/** Keys per message; a use takes at most about forty bytes. */
const usesPerMessage = 5000;
const minuteMs = 60_000;

export const openUseReports = ({ bus, metrics }: ReportsOptions): UseReports => {
  const tally = <Name extends string | number, Sum>(
    name: string,
    subject: string,
    rowOf: (sum: Sum) => readonly unknown[],
    { maxWaiting = maxSums, perMessage = maxRequestCounts } = {},
  ): Tally<Name, Sum> =>
    createTally({
      name,
      metrics,
      everyMs: flushMs,
      maxWaiting,
      allowed: () => (bus.connected() ? Number.POSITIVE_INFINITY : 0),
      flush: (all) => {
        for (let at = 0; at < all.length; at += perMessage)
          bus.nc.publish(subject, JSON.stringify(all.slice(at, at + perMessage).map(rowOf)));
      },
    });
  const uses = tally<number, { readonly key: KeyEntry; minute: number }>(
    'last-used',
    keyUsedSubject,
    ({ key, minute }) => [key.id, key.companyId, minute],
    { maxWaiting: Number.POSITIVE_INFINITY, perMessage: usesPerMessage },
  );
  const sums = tally<number, RequestSum>('request-counts', requestsCountedSubject, Object.values);
  const flush = (): void => {
    uses.flush();
    sums.flush();
  };
  bus.onReconnect(flush);
  /** Used in the current minute: each key is noted once. */
  let noted = new Set<number>();
  let notedMinute = 0;

  return {
    used: (key, nowMs) => {
      const minute = Math.floor(nowMs / minuteMs);
      if (minute !== notedMinute) {
        notedMinute = minute;
        noted = new Set();
      }
      if (noted.has(key.id)) return;
      noted.add(key.id);
      uses.of(key.id, () => ({ key, minute })).minute = minute;
    },
    answered: ({ id: keyId, companyId }, bucket, status) => {
      const minute = Math.floor(Date.now() / minuteMs);
      // A number, because a text for each request would cost more. Sums wait for less than 1024 minutes.
      const name = (keyId * 1024 + (minute % 1024)) * buckets.length + buckets.indexOf(bucket);
      const sum = sums.of(name, () => ({
        companyId,
        keyId,
        bucket,
        minute,
        answered: 0,
        limited: 0,
        failed: 0,
      }));
      if (status === 429) sum.limited++;
      else {
        sum.answered++;
        if (status >= 500) sum.failed++;
      }
    },
    flush,
  };
};

interface ReportsOptions {
  readonly bus: Bus;
  readonly metrics: Metrics;
}
