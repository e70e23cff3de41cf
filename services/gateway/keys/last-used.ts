import { type KeyEntry, type KeyUse, keyUsedSubject } from '@causeway/proto';
import type { Bus } from '@causeway/runtime';

/** Notes when keys were used, to the minute; `access` writes it down in batches. */
export interface LastUsed {
  note(key: KeyEntry, nowMs: number): void;
  flush(): void;
  close(): void;
}

const flushMs = 10_000;
/** Keys a message; a use is at most some forty bytes. */
const usesPerMessage = 5000;

export const reportLastUsed = ({ bus }: { readonly bus: Bus }): LastUsed => {
  /** The last minute noted of each key; kept after it was sent, so that one is sent once a minute. */
  let noted = new Map<number, number>();
  let unsent = new Map<number, KeyUse>();
  let currentMinute = 0;

  const flush = (): void => {
    if (unsent.size === 0 || !bus.connected()) return;
    const uses = [...unsent.values()];
    unsent = new Map();
    for (let at = 0; at < uses.length; at += usesPerMessage)
      bus.nc.publish(keyUsedSubject, JSON.stringify(uses.slice(at, at + usesPerMessage)));
  };
  const timer = setInterval(flush, flushMs);
  timer.unref();

  return {
    note: (key, nowMs) => {
      const minute = Math.floor(nowMs / 60_000);
      if (minute !== currentMinute) {
        currentMinute = minute;
        noted = new Map();
      }
      if (noted.get(key.id) === minute) return;
      noted.set(key.id, minute);
      unsent.set(key.id, [key.id, key.companyId, minute]);
    },
    flush,
    close: () => {
      clearInterval(timer);
      flush();
    },
  };
};
