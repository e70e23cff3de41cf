import { deliverySubject, encodeWake, maxWakeDeliveries, type WokenDelivery } from '@causeway/proto';
import {
  acrossTenants,
  type Bus,
  bigint,
  type Database,
  datetime,
  jsonTable,
  type Log,
  type Metrics,
  sqlTime,
  transaction,
} from '@causeway/runtime';
import { jetstream } from '@nats-io/jetstream';
import { sql } from 'kysely';
import { noteDue } from '../deliveries/noteDue.ts';
import type { Tables } from '../tables.ts';

/** Brings first attempts to the dispatchers. */
export interface Wakes {
  /** Whether a wake that is sent now will be heard of. */
  possible(): boolean;
  /** Sends them on their way; nobody waits for it. */
  publish(deliveries: readonly WokenDelivery[], dueMs: number): void;
  /** Resolves when nothing is on its way. */
  drain(): Promise<void>;
}

/**
 * A wake that the stream does not acknowledge has its deliveries given back: they are due at once, instead of at
 * the end of their lease.
 * @param onFailure called when the stream may be missing.
 */
export const openWakes = ({ bus, db, log, metrics, now, onFailure }: WakesOptions): Wakes => {
  const js = jetstream(bus.nc, { timeout: ackTimeoutMs });
  const failed = metrics
    ?.counter('webhooks_wakes_failed_total', 'Wakes that the stream did not acknowledge')
    .cell();
  let onTheirWay = 0;
  let idle: (() => void) | undefined;

  const send = async (wake: { dueMs: number; deliveries: readonly WokenDelivery[] }): Promise<void> => {
    try {
      await js.publish(deliverySubject, encodeWake(wake));
      return;
    } catch (error) {
      if (failed) failed.value++;
      log.debug({ error }, 'a wake was not acknowledged');
      onFailure();
    }
    try {
      await giveBack(db, wake.deliveries, new Date(wake.dueMs), now());
    } catch (error) {
      log.debug({ error }, 'deliveries keep their lease, though nobody may know of it');
    }
  };

  return {
    possible: () => bus.connected() && onTheirWay < maxOnTheirWay,
    publish: (deliveries, dueMs) => {
      for (let at = 0; at < deliveries.length; at += maxWakeDeliveries) {
        onTheirWay++;
        void send({ dueMs, deliveries: deliveries.slice(at, at + maxWakeDeliveries) }).then(() => {
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

export interface WakesOptions {
  readonly bus: Bus;
  readonly db: Database<Tables>;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  readonly now: () => Date;
  readonly onFailure: () => void;
}

/** Ends leases that nobody has taken up. */
const giveBack = (
  db: Database<Tables>,
  deliveries: readonly WokenDelivery[],
  lease: Date,
  now: Date,
): Promise<void> =>
  transaction(db, async (trx) => {
    const all = acrossTenants(trx, 'a wake names deliveries of many companies');
    const rows = deliveries.map((one) => [
      one.company_id,
      one.event_id,
      one.subscription_id,
      one.replay_id,
      sqlTime(one.created_utc),
    ]);
    await sql`
      UPDATE ${jsonTable(columns, rows)} AS k
      STRAIGHT_JOIN deliveries AS d ON d.company_id = k.company_id AND d.event_id = k.event_id
        AND d.subscription_id = k.subscription_id AND d.replay_id = k.replay_id
        AND d.created_utc = k.created_utc
      SET d.due_utc = ${now}
      WHERE d.state = 'waiting' AND d.due_utc = ${lease}`.execute(all);
    const queues = new Map(deliveries.map((one) => [one.subscription_id, { ...one, due_utc: now }]));
    await noteDue(all, [...queues.values()]);
  });

const columns = {
  company_id: bigint,
  event_id: bigint,
  subscription_id: bigint,
  replay_id: bigint,
  created_utc: datetime,
};
