import { type DeliveryWake, decodeWake, deliveryConsumer, deliveryStream } from '@causeway/proto';
import { type Bus, type Database, type Log, type Metrics, type Tracer, traced } from '@causeway/runtime';
import type { Tables } from '../tables.ts';
import type { Windows } from '../windows/windows.ts';
import type { Held } from './announced.ts';
import { pull } from './pull.ts';
import { readWoken, type Woken } from './read-woken.ts';

export interface Intake {
  /** There may be room for more. */
  pump(): void;
  /** Takes nothing more; resolves when what was taken has been handed on. */
  stop(): Promise<void>;
}

/**
 * The fast path: takes wakes from the stream, reads their deliveries and hands them on. It asks for as much as
 * there are slots for, so that what this process cannot do yet stays in the stream, where others see it.
 *
 * A wake is acknowledged when it arrives. What protects its deliveries is the lease of their events' outbox rows: if
 * this process dies, what it has not recorded is due when it runs out, whatever the stream knows; a redelivered wake
 * could only double them.
 */
export const startIntake = (options: IntakeOptions): Intake => {
  const { bus, db, windows, giveBack, orphaned, now, lastStartMs, log, metrics, tracer, mayTake } = options;
  const reads = metrics?.counter('dispatcher_first_reads_total', 'Batches of announced deliveries').cell();
  const announced = metrics
    ?.counter('dispatcher_first_announced_total', 'Deliveries in these batches')
    .cell();
  const taken = metrics
    ?.counter('dispatcher_first_taken_total', 'Deliveries of these that were taken')
    .cell();
  let arrived: Woken[] = [];
  let perWake = 4;
  let reading = 0;
  let inReads = 0;
  let newestMs = 0;
  let stopped = false;
  let idle: (() => void) | undefined;

  const mayRead = (): boolean =>
    reading === 0 || (reading < maxReads && performance.now() - newestMs >= patienceMs);
  const room = (): number => (mayTake() ? windows.free().slots - inReads : 0);

  const read = async (woken: readonly Woken[]): Promise<void> => {
    try {
      const nowMs = now().getTime();
      const parents = woken.map(({ announced }) => announced.traceparent);
      const { jobs, forQueues, orphans } = await traced(
        tracer,
        'take deliveries',
        { kind: 'internal', parents },
        () => readWoken(db, woken, { nowMs, lastStartMs }),
      );
      if (reads) reads.value++;
      if (announced) announced.value += woken.length;
      if (taken) taken.value += jobs.length;
      for (const job of jobs) windows.offer(job);
      giveBack(forQueues);
      orphaned(orphans);
    } catch (error) {
      log.warn({ error }, 'announced deliveries could not be read; they are due when their leases run out');
    }
  };

  /** The next that are worth reading; those whose windows are closed go back unread. */
  const nextBatch = (size: number): readonly Woken[] => {
    const batch: Woken[] = [];
    const closed: Held[] = [];
    let looked = 0;
    for (const one of arrived) {
      if (batch.length === size) break;
      looked++;
      if (windows.isClosed(one)) closed.push(one);
      else batch.push(one);
    }
    arrived = arrived.slice(looked);
    giveBack(closed);
    return batch;
  };

  const pump = (): void => {
    while (arrived.length > 0 && mayRead() && room() > 0 && !stopped) {
      const batch = nextBatch(Math.min(maxBatch, room()));
      if (batch.length === 0) break;
      reading++;
      newestMs = performance.now();
      inReads += batch.length;
      void read(batch).finally(() => {
        reading--;
        inReads -= batch.length;
        pump();
        if (reading === 0) idle?.();
      });
    }
    pulling.more();
  };

  const pulling = pull({
    bus,
    stream: deliveryStream,
    consumer: deliveryConsumer,
    log,
    // In messages, as large as they have been of late; what has arrived comes first.
    demand: () => Math.ceil((room() - arrived.length) / perWake),
    take: (message) => {
      message.respond(ack);
      const deliveries = wokenOf(decodeWake(message.string()));
      perWake += (deliveries.length - perWake) / 16;
      arrived.push(...deliveries);
      pump();
    },
  });

  return {
    pump,
    stop: async () => {
      stopped = true;
      await pulling.stop();
      giveBack(arrived);
      arrived = [];
      if (reading > 0) await new Promise<void>((resolve) => (idle = resolve));
    },
  };
};

const wokenOf = ({ dueMs: leaseMs, events }: DeliveryWake): readonly Woken[] =>
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
const maxReads = 2;
/** One read at a time makes the largest batches; but one that takes long must not hold up what arrives. */
const patienceMs = 10;
const maxBatch = 256;

export interface IntakeOptions {
  readonly bus: Bus;
  readonly db: Database<Tables>;
  readonly windows: Windows;
  readonly giveBack: (deliveries: readonly Held[]) => void;
  /** Called with those whose subscriptions are gone. */
  readonly orphaned: (deliveries: readonly Held[]) => void;
  readonly now: () => Date;
  readonly lastStartMs: number;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  readonly tracer?: Tracer | undefined;
  /** False while results cannot be recorded. */
  readonly mayTake: () => boolean;
}
