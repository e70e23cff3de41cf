import { decodeWake, deliveryConsumer, deliveryStream } from '@causeway/proto';
import { type Bus, type Database, type Log, type Metrics, type Tracer, traced } from '@causeway/runtime';
import type { Held } from '../queues/giveBack.ts';
import type { Tables } from '../tables.ts';
import type { Windows } from '../windows/windows.ts';
import { pull } from './pull.ts';
import { drop, readWoken, type Woken } from './readWoken.ts';

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
 * A wake is acknowledged when it arrives. What protects its deliveries is the lease in their rows: if this process
 * dies they are due again when it runs out, whatever the stream knows; a redelivered wake could only double them.
 */
export const startIntake = (options: IntakeOptions): Intake => {
  const { bus, db, windows, giveBack, now, lastStartMs, log, metrics, tracer, mayTake } = options;
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
      const at = now();
      const parents = woken.map(({ traceparent }) => traceparent);
      const { jobs, forQueues, orphans } = await traced(
        tracer,
        'take deliveries',
        { kind: 'internal', parents },
        () => readWoken(db, woken, { nowMs: at.getTime(), lastStartMs }),
      );
      if (reads) reads.value++;
      if (announced) announced.value += woken.length;
      if (taken) taken.value += jobs.length;
      for (const job of jobs) windows.offer(job);
      giveBack(forQueues.map(heldOf));
      if (orphans.length > 0) await drop(db, orphans, at);
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
      if (windows.isClosed(one)) closed.push(heldOf(one));
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
      const { dueMs, deliveries } = decodeWake(message.string());
      perWake += (deliveries.length - perWake) / 16;
      for (const one of deliveries) arrived.push({ ...one, dueMs });
      pump();
    },
  });

  return {
    pump,
    stop: async () => {
      stopped = true;
      await pulling.stop();
      giveBack(arrived.map(heldOf));
      arrived = [];
      if (reading > 0) await new Promise<void>((resolve) => (idle = resolve));
    },
  };
};

const heldOf = ({ dueMs, ...one }: Woken): Held => ({ ...one, leaseMs: dueMs });

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
  readonly now: () => Date;
  readonly lastStartMs: number;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  readonly tracer?: Tracer | undefined;
  /** False while results cannot be recorded. */
  readonly mayTake: () => boolean;
}
