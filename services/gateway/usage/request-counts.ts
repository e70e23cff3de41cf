import { type Bucket, type KeyEntry, maxRequestCounts, requestsCountedSubject } from '@causeway/proto';
import { after, type Bus, createBatch, type Metrics } from '@causeway/runtime';

/** Counts the requests of each key, bucket and minute by their result; `access` stores the sums. */
export interface RequestCounts {
  note(key: KeyEntry, bucket: Bucket, status: number): void;
  flush(): void;
}

const flushMs = 10_000;
/** Most sums kept while NATS is unreachable. Further ones are dropped: they only feed charts. */
const maxKept = 50_000;

interface Sum {
  readonly companyId: number;
  readonly keyId: number;
  readonly bucket: Bucket;
  readonly minute: number;
  answered: number;
  limited: number;
  failed: number;
}

type Sums = Readonly<Record<Bucket, Map<number, Sum>>>;
const noSums = (): Sums => ({ read: new Map(), write: new Map(), admin: new Map(), lookup: new Map() });

export const reportRequests = ({ bus, metrics }: RequestCountsOptions): RequestCounts => {
  /** Sums of the present minute that were not sent yet. */
  let sums = noSums();
  let minute = 0;
  const batch = createBatch<Sum>({
    name: 'request-counts',
    metrics,
    when: after(flushMs),
    maxItems: Number.POSITIVE_INFINITY,
    maxWaiting: maxKept,
    allowed: () => (bus.connected() ? Number.POSITIVE_INFINITY : 0),
    flush: (all) => {
      sums = noSums();
      const counts = all.map((sum) => [
        sum.companyId,
        sum.keyId,
        sum.bucket,
        sum.minute,
        sum.answered,
        sum.limited,
        sum.failed,
      ]);
      for (let at = 0; at < counts.length; at += maxRequestCounts)
        bus.nc.publish(requestsCountedSubject, JSON.stringify(counts.slice(at, at + maxRequestCounts)));
    },
  });
  bus.onReconnect(batch.flush);

  return {
    note: (key, bucket, status) => {
      const now = Math.floor(Date.now() / 60_000);
      if (now !== minute) {
        sums = noSums();
        minute = now;
      }
      const ofBucket = sums[bucket];
      let sum = ofBucket.get(key.id);
      if (!sum) {
        const { id: keyId, companyId } = key;
        sum = { companyId, keyId, bucket, minute, answered: 0, limited: 0, failed: 0 };
        ofBucket.set(keyId, sum);
        batch.add(sum);
      }
      if (status === 429) sum.limited++;
      else {
        sum.answered++;
        if (status >= 500) sum.failed++;
      }
    },
    flush: batch.flush,
  };
};

export interface RequestCountsOptions {
  readonly bus: Bus;
  readonly metrics: Metrics;
}
