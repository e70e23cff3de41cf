import { gatewayBucket, gatewayBucketSettings } from '@causeway/proto';
import { type Bus, eachTick, type Log } from '@causeway/runtime';
import { type KV, Kvm } from '@nats-io/kv';

/** A gateway in the list must confirm a revocation before it counts as done. */
interface Presence {
  listed(): boolean;
  close(): Promise<void>;
}

const renewMs = 1000;
/** After this long without a confirmed renewal, the entry may have expired. */
const doubtMs = 4000;

/** After a possible lapse, `onLapse` runs once listed again: revocations may have been missed. */
export const keepPresence = async ({ bus, instance, log, onLapse }: PresenceOptions): Promise<Presence> => {
  const open = (): Promise<KV> => new Kvm(bus.nc).open(gatewayBucket);
  let bucket = await open();
  let renewedAtMs = performance.now();
  let busy = false;

  const renew = async (): Promise<void> => {
    const sentAtMs = performance.now();
    try {
      await bucket.put(instance, new Date().toISOString());
    } catch {
      // The bucket is in memory: a restarted server has lost it, and `access` creates it again.
      bucket = await open();
      await bucket.put(instance, new Date().toISOString());
    }
    const lapsed = sentAtMs - renewedAtMs > doubtMs;
    renewedAtMs = sentAtMs;
    if (lapsed) onLapse();
  };
  await renew();

  const stopRenewing = eachTick(() => {
    if (busy || !bus.connected()) return;
    busy = true;
    renew()
      .catch((error: unknown) => log.warn({ reason: String(error) }, 'presence not renewed'))
      .finally(() => {
        busy = false;
      });
  }, renewMs);

  return {
    listed: () => performance.now() - renewedAtMs < gatewayBucketSettings.ttl,
    close: async () => {
      stopRenewing();
      if (bus.connected()) await bucket.delete(instance).catch(() => {});
    },
  };
};

interface PresenceOptions {
  readonly bus: Bus;
  readonly instance: string;
  readonly log: Log;
  readonly onLapse: () => void;
}
