import {
  type Bucket,
  type KeyEntry,
  keyUsedSubject,
  maxRequestCounts,
  requestsCountedSubject,
} from '@causeway/proto';
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

export const reportRequests = ({ bus, metrics }: ReportsOptions): RequestCounts => {
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

interface ReportsOptions {
  readonly bus: Bus;
  readonly metrics: Metrics;
}

/** Reports when keys were used, to the minute, once a minute; `access` stores it. */
export interface LastUsed {
  note(key: KeyEntry, nowMs: number): void;
  flush(): void;
}

/** Keys per message; a use takes at most about forty bytes. */
const usesPerMessage = 5000;

interface Use {
  readonly key: KeyEntry;
  minute: number;
}

export const reportLastUsed = ({ bus, metrics }: ReportsOptions): LastUsed => {
  /** Each key's last reported minute. */
  let noted = new Map<number, number>();
  let currentMinute = 0;
  const unsent = new Map<number, Use>();
  const batch = createBatch<Use>({
    name: 'last-used',
    metrics,
    when: after(flushMs),
    maxItems: Number.POSITIVE_INFINITY,
    allowed: () => (bus.connected() ? Number.POSITIVE_INFINITY : 0),
    flush: (all) => {
      unsent.clear();
      const uses = all.map(({ key, minute }) => [key.id, key.companyId, minute]);
      for (let at = 0; at < uses.length; at += usesPerMessage)
        bus.nc.publish(keyUsedSubject, JSON.stringify(uses.slice(at, at + usesPerMessage)));
    },
  });
  bus.onReconnect(batch.flush);

  return {
    note: (key, nowMs) => {
      const minute = Math.floor(nowMs / 60_000);
      if (minute !== currentMinute) {
        currentMinute = minute;
        noted = new Map();
      }
      if (noted.get(key.id) === minute) return;
      noted.set(key.id, minute);
      let use = unsent.get(key.id);
      if (!use) {
        use = { key, minute };
        unsent.set(key.id, use);
        batch.add(use);
      }
      use.minute = minute;
    },
    flush: batch.flush,
  };
};
