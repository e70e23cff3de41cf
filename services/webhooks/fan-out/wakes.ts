import { type AnnouncedEvent, deliverySubject, encodeWake, maxWakeDeliveries } from '@causeway/proto';
import type { Bus, Database, Log, Metrics } from '@causeway/runtime';
import { jetstream } from '@nats-io/jetstream';
import { webhooksMetrics } from '../metrics.ts';
import type { Tables } from '../tables.ts';
import { endLeases } from './fan-out-events.ts';

/** Announces first attempts to the dispatchers. */
export interface Wakes {
  /** Whether a wake can be published now. */
  possible(): boolean;
  /** Publishes wakes without waiting for the acknowledgement. */
  publish(events: readonly AnnouncedEvent[], dueMs: number): void;
  /** Resolves when no publish is in flight. */
  drain(): Promise<void>;
}

/**
 * If the stream does not acknowledge a wake, ends the leases of its events, so that the sweeper takes them.
 * @param onFailure called when the stream may be missing.
 */
export const openWakes = ({ bus, db, log, metrics, now, onFailure }: WakesOptions): Wakes => {
  const js = jetstream(bus.nc, { timeout: ackTimeoutMs });
  const failed = metrics?.counter(webhooksMetrics.webhooks_wakes_failed_total).cell();
  let onTheirWay = 0;
  let idle: (() => void) | undefined;

  const send = async (dueMs: number, events: readonly AnnouncedEvent[]): Promise<void> => {
    try {
      await js.publish(deliverySubject, encodeWake({ dueMs, events }));
      return;
    } catch (error) {
      if (failed) failed.value++;
      log.debug({ error }, 'wake not acknowledged');
      onFailure();
    }
    try {
      await endLeases(db, events, { dueMs, now: now() });
    } catch (error) {
      log.debug({ error }, 'leases not ended; they expire by themselves');
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

/** Splits events into messages. An event is never split: one dispatcher decides when all its deliveries are made. */
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
