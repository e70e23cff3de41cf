import {
  type Bucket,
  type KeyEntry,
  maxRequestCounts,
  type RequestCount,
  requestsCountedSubject,
} from '@causeway/proto';
import type { Bus } from '@causeway/runtime';

/** Adds up what became of counted requests, by key, bucket and minute; `access` keeps the sums. */
export interface RequestCounts {
  note(key: KeyEntry, bucket: Bucket, status: number): void;
  flush(): void;
  close(): void;
}

const flushMs = 10_000;
/** While NATS is away: counts of so many keys are kept, later ones given up. They are for charts. */
const maxKept = 50_000;

interface Sum {
  readonly companyId: number;
  readonly keyId: number;
  readonly bucket: Bucket;
  answered: number;
  limited: number;
  failed: number;
}

export const reportRequests = ({ bus }: { readonly bus: Bus }): RequestCounts => {
  let sums = { read: new Map<number, Sum>(), write: new Map(), admin: new Map(), lookup: new Map() };
  let minute = 0;
  let unsent: RequestCount[] = [];

  const put = (): void => {
    const all = Object.values(sums).flatMap((ofBucket: Map<number, Sum>) => [...ofBucket.values()]);
    for (const { companyId, keyId, bucket, answered, limited, failed } of all)
      if (unsent.length < maxKept) unsent.push([companyId, keyId, bucket, minute, answered, limited, failed]);
    sums = { read: new Map(), write: new Map(), admin: new Map(), lookup: new Map() };
  };
  const flush = (): void => {
    put();
    if (unsent.length === 0 || !bus.connected()) return;
    for (let at = 0; at < unsent.length; at += maxRequestCounts)
      bus.nc.publish(requestsCountedSubject, JSON.stringify(unsent.slice(at, at + maxRequestCounts)));
    unsent = [];
  };
  const timer = setInterval(flush, flushMs);
  timer.unref();

  return {
    note: (key, bucket, status) => {
      const now = Math.floor(Date.now() / 60_000);
      if (now !== minute) {
        put();
        minute = now;
      }
      const ofBucket: Map<number, Sum> = sums[bucket];
      let sum = ofBucket.get(key.id);
      if (!sum) {
        sum = { companyId: key.companyId, keyId: key.id, bucket, answered: 0, limited: 0, failed: 0 };
        ofBucket.set(key.id, sum);
      }
      if (status === 429) sum.limited++;
      else {
        sum.answered++;
        if (status >= 500) sum.failed++;
      }
    },
    flush,
    close: () => {
      clearInterval(timer);
      flush();
    },
  };
};
