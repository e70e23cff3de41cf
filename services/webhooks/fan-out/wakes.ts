import { type AnnouncedEvent, deliverySubject, encodeWake, maxWakeDeliveries } from '@causeway/proto';
import type { Bus, Database, Log, Metrics } from '@causeway/runtime';
import { jetstream } from '@nats-io/jetstream';
import type { Tables } from '../tables.ts';
import { endLeases } from './fan-out-events.ts';

/** Brings first attempts to the dispatchers. */
export interface Wakes {
  /** Whether a wake that is sent now will be heard of. */
  possible(): boolean;
  /** Sends them on their way; nobody waits for it. */
  publish(events: readonly AnnouncedEvent[], dueMs: number): void;
  /** Resolves when nothing is on its way. */
  drain(): Promise<void>;
}

/**
 * A wake that the stream does not acknowledge has the leases of its events ended: the sweeper takes them.
 * @param onFailure called when the stream may be missing.
 */
export const openWakes = ({ bus, db, log, metrics, now, onFailure }: WakesOptions): Wakes => {
  const js = jetstream(bus.nc, { timeout: ackTimeoutMs });
  const failed = metrics
    ?.counter('webhooks_wakes_failed_total', 'Wakes that the stream did not acknowledge')
    .cell();
  let onTheirWay = 0;
  let idle: (() => void) | undefined;

  const send = async (dueMs: number, events: readonly AnnouncedEvent[]): Promise<void> => {
    try {
      await js.publish(deliverySubject, encodeWake({ dueMs, events }));
      return;
    } catch (error) {
      if (failed) failed.value++;
      log.debug({ error }, 'a wake was not acknowledged');
      onFailure();
    }
    try {
      await endLeases(db, events, { dueMs, now: now() });
    } catch (error) {
      log.debug({ error }, 'events keep their lease, though nobody may know of it');
    }
  };

  return {
    possible: () => bus.connected() && onTheirWay < maxOnTheirWay,
    publish: (events, dueMs) => {
      for (const part of parts(events)) {
        onTheirWay++;
        void send(dueMs, part).then(() => {
          onTheirWay--;
          if (onTheirWay === 0) idle?.();
        });
      }
    },
    drain: async () => {
      if (onTheirWay > 0) await new Promise<void>((resolve) => (idle = resolve));
    },
  };
};

const ackTimeoutMs = 2_000;
const maxOnTheirWay = 1_024;

/** Events by the message: an event stays whole, as one dispatcher says when all of it is done. */
const parts = (events: readonly AnnouncedEvent[]): readonly (readonly AnnouncedEvent[])[] => {
  const all: AnnouncedEvent[][] = [];
  let deliveries = maxWakeDeliveries;
  for (const event of events) {
    deliveries += event.subscription_ids.length;
    if (deliveries > maxWakeDeliveries) {
      all.push([]);
      deliveries = event.subscription_ids.length;
    }
    all.at(-1)!.push(event);
  }
  return all;
};

export interface WakesOptions {
  readonly bus: Bus;
  readonly db: Database<Tables>;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  readonly now: () => Date;
  readonly onFailure: () => void;
}
