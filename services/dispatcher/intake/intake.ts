import { type DeliveryWake, decodeWake, deliveryConsumer, deliveryStream } from '@causeway/proto';
import {
  type Bus,
  createBatch,
  type Database,
  type Log,
  type Metrics,
  type Tracer,
  traced,
} from '@causeway/runtime';
import { dispatcherMetrics } from '../metrics.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import type { Tables } from '../tables.ts';
import type { LeasedDelivery } from './announced.ts';
import { pull } from './pull.ts';
import { type AnnouncedDelivery, readAnnounced } from './read-announced.ts';

export interface Intake {
  /** Call it when there may be room for more. */
  pump(): void;
  /** Stops taking and resolves when everything taken has been handed on. */
  stop(): Promise<void>;
}

/**
 * The fast path: takes wakes from the stream, reads their deliveries and hands them on. It requests as many as there
 * are free slots, so that the rest stays in the stream for other dispatchers.
 *
 * It acknowledges a wake on arrival. The lease on the events' outbox rows protects their deliveries: if this process
 * dies, the unrecorded ones are due when the lease ends, without the stream. A redelivered wake could only cause
 * duplicates.
 */
export const startIntake = (options: IntakeOptions): Intake => {
  const { bus, db, scheduler, giveBack, orphaned, now, lastStartMs, log, metrics, tracer, mayTake } = options;
  const taken = metrics.counter(dispatcherMetrics.dispatcher_first_taken_total).cell();
  let perWake = 4;
  let stopped = false;

  const room = (): number => (mayTake() && !stopped ? scheduler.free().slots - batch.underWay() : 0);

  /** Reads deliveries. Those whose subscriptions have no room are given back unread. */
  const read = async (arrived: readonly AnnouncedDelivery[]): Promise<void> => {
    const { closed = [], open = [] } = Object.groupBy(arrived, (one) =>
      scheduler.isClosed(one) ? 'closed' : 'open',
    );
    giveBack(closed);
    if (open.length === 0) return;
    try {
      const nowMs = now().getTime();
      const parents = open.map(({ announced }) => announced.traceparent);
      const { jobs, forQueues, orphans } = await traced(
        tracer,
        'take deliveries',
        { kind: 'internal', parents },
        () => readAnnounced(db, open, { nowMs, lastStartMs }),
      );
      taken.value += jobs.length;
      for (const job of jobs) scheduler.offer(job);
      giveBack(forQueues);
      orphaned(orphans);
    } catch (error) {
      log.warn({ error }, 'announced deliveries could not be read; they are due when their leases end');
    }
  };
  const batch = createBatch<AnnouncedDelivery>({
    name: 'announced-deliveries',
    metrics,
    when: queueMicrotask,
    maxItems: maxBatch,
    maxFlushes: 2,
    overlapAfterMs,
    allowed: room,
    flush: read,
    onFlushed: () => pulling.more(),
  });

  const pulling = pull({
    bus,
    stream: deliveryStream,
    consumer: deliveryConsumer,
    log,
    // Demand in messages, estimated from their recent size. Deliveries that have arrived come first.
    demand: () => Math.ceil((room() - batch.waiting()) / perWake),
    take: (message) => {
      message.respond(ack);
      const deliveries = deliveriesOf(decodeWake(message.string()));
      perWake += (deliveries.length - perWake) / 16;
      for (const one of deliveries) batch.add(one);
    },
  });

  return {
    pump: () => {
      batch.flush();
      pulling.more();
    },
    stop: async () => {
      stopped = true;
      await pulling.stop();
      giveBack(batch.takeBack());
      await batch.drain();
    },
  };
};

const deliveriesOf = ({ dueMs: leaseMs, events }: DeliveryWake): readonly AnnouncedDelivery[] =>
  events.flatMap(({ subscription_ids, ...event }) => {
    const { company_id, event_id, created_utc } = event;
    const announced = { ...event, leaseMs, open: new Set(subscription_ids) };
    return subscription_ids.map((subscription_id) => ({
      company_id,
      event_id,
      created_utc,
      subscription_id,
      replay_id: 0,
      leaseMs,
      announced,
    }));
  });

const ack = '+ACK';
/** One read at a time makes the largest batches, but a slow one must not delay the others. */
const overlapAfterMs = 10;
const maxBatch = 256;

export interface IntakeOptions {
  readonly bus: Bus;
  readonly db: Database<Tables>;
  readonly scheduler: Scheduler;
  readonly giveBack: (deliveries: readonly LeasedDelivery[]) => void;
  /** Called with deliveries whose subscriptions were deleted. */
  readonly orphaned: (deliveries: readonly LeasedDelivery[]) => void;
  readonly now: () => Date;
  readonly lastStartMs: number;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracer?: Tracer | undefined;
  /** False while results cannot be recorded. */
  readonly mayTake: () => boolean;
}
