import { type KeyEntry, keyUsedSubject } from '@causeway/proto';
import { after, type Bus, createBatch, type Metrics } from '@causeway/runtime';

/** Reports when keys were used, to the minute, once a minute; `access` stores it. */
export interface LastUsed {
  note(key: KeyEntry, nowMs: number): void;
  flush(): void;
}

const flushMs = 10_000;
/** Keys per message; a use takes at most about forty bytes. */
const usesPerMessage = 5000;

interface Use {
  readonly key: KeyEntry;
  minute: number;
}

export const reportLastUsed = ({ bus, metrics }: LastUsedOptions): LastUsed => {
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

export interface LastUsedOptions {
  readonly bus: Bus;
  readonly metrics: Metrics;
}
