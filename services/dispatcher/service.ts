import { createMissedReport, type DeliveryPorts } from '@causeway/deliveries';
import {
  leaseMs as contractLeaseMs,
  failuresUntilDisabled,
  retentionDays,
  retryScheduleMs,
  waitingDeliveriesQuota,
} from '@causeway/proto';
import {
  type Bus,
  type Database,
  type KeyRing,
  type Log,
  type Metrics,
  noMetrics,
  type Tracer,
} from '@causeway/runtime';
import { createAttempts } from './attempt/attempts.ts';
import { serveCommands } from './commands/serve-commands.ts';
import { startFanOut } from './fan-out/start-fan-out.ts';
import { createPoster, type PosterOptions } from './http/post.ts';
import { createCompanies } from './intake/companies.ts';
import { startIntake } from './intake/intake.ts';
import { trackOpenEvents } from './intake/open-events.ts';
import { keepStream } from './intake/stream.ts';
import type { Job } from './job.ts';
import { startHolder } from './leases/holder.ts';
import { dispatcherMetrics } from './metrics.ts';
import { watchBacklog } from './queues/backlog.ts';
import { createLeaseRelease } from './queues/lease-release.ts';
import { startPoller } from './queues/poller.ts';
import { startHeldCount, startWaitingRecount } from './queues/recounts.ts';
import { startDeliveryRetention } from './queues/retention.ts';
import { createTail, shareHealth } from './record/broadcasts.ts';
import { createMinutes } from './record/minutes.ts';
import { createRecorder } from './record/recorder.ts';
import { createScheduler } from './scheduling/scheduler.ts';
import { createSigner } from './sign/signer.ts';
import type { Tables } from './tables.ts';
import { serveTestDeliveries } from './test-delivery/serve.ts';

export interface Dispatcher {
  /** Takes nothing more; resolves when what is in flight has ended and is recorded, and the rest given back. */
  drain(): Promise<void>;
}

export interface DispatcherOptions {
  readonly bus: Bus;
  readonly db: Database<Tables>;
  /** A pool with one connection, for the sign of life that its leases depend on. */
  readonly beatDb: Database<Tables>;
  /** This process's name, for the log of the others. */
  readonly instance: string;
  readonly keyRing: KeyRing;
  readonly log: Log;
  readonly metrics?: Metrics;
  readonly tracer?: Tracer | undefined;
  /** https and public addresses only, unless given. */
  readonly allowHttp?: boolean;
  readonly allowPrivate?: boolean;
  /** Without it, those of `deliveryPorts`. */
  readonly ports?: DeliveryPorts | undefined;
  readonly resolve?: PosterOptions['resolve'];
  readonly scheduleMs?: readonly number[];
  /** How long a receiver has for its whole answer. */
  readonly timeoutMs?: number;
  /** Wait before the first probe of a failing subscription. */
  readonly probeIntervalMs?: number;
  /** The lease of a delivery that is being attempted. */
  readonly leaseMs?: number;
  /** Attempts in flight at a time. */
  readonly slots?: number;
  /** Of these, to one host. */
  readonly maxPerHost?: number;
  /** Threads that sign. */
  readonly signers?: number;
  /** Deliveries of one company that may wait. */
  readonly waitingQuota?: number;
  /** Whole days to keep deliveries and attempts. */
  readonly retentionDays?: number;
  /** Copies of the stream of events in the NATS cluster; default 1. */
  readonly replicas?: number;
  readonly now?: () => Date;
  /** From 0 up to 1. */
  readonly random?: () => number;
}

/** Sends what is due, as one of any number of replicas. Resolves when the NATS server knows its subscriptions. */
export const createDispatcher = async (options: DispatcherOptions): Promise<Dispatcher> => {
  const { bus, db, keyRing, log, metrics = noMetrics, tracer } = options;
  const { now = () => new Date(), random = Math.random } = options;
  const { slots = 512, timeoutMs = 10_000, leaseMs = contractLeaseMs } = options;
  // The least that must be left of a lease when an attempt begins: it ends before, and is recorded.
  const lastStartMs = timeoutMs + Math.min(recordingMs, leaseMs / 10);
  const wake = { onSure: () => {}, onFreed: () => {} };
  const holder = await startHolder({
    beatDb: options.beatDb,
    db,
    instance: options.instance,
    now,
    nowMs: () => performance.now(),
    onSure: () => wake.onSure(),
    onFreed: () => wake.onFreed(),
    log,
    metrics,
  });
  const signer = createSigner({ keyRing, threads: options.signers, now, metrics });
  const poster = createPoster({
    allowHttp: options.allowHttp ?? false,
    allowPrivate: options.allowPrivate ?? false,
    ports: options.ports,
    timeoutMs,
    ...(options.resolve && { resolve: options.resolve }),
  });
  const attempt = createAttempts({
    signer,
    poster,
    scheduleMs: options.scheduleMs ?? retryScheduleMs,
    lastStartMs,
    holder,
    giveBack: (jobs) => leaseRelease.release(jobs),
    now,
    random,
    log,
    metrics,
    tracer,
  });
  const waitingQuota = options.waitingQuota ?? waitingDeliveriesQuota;
  const onMissed = createMissedReport({
    log,
    metrics,
    metric: dispatcherMetrics.dispatcher_events_missed_total,
  });
  const openEvents = trackOpenEvents({ db, now, waitingQuota, holder: holder.id, onMissed, log, metrics });
  const leaseRelease = createLeaseRelease({
    db,
    now,
    waitingQuota,
    openEvents,
    onDropped: onMissed,
    log,
    metrics,
  });
  const tail = createTail(bus);
  const minutes = createMinutes({ db, log, metrics });
  const scheduler = createScheduler({
    slots,
    maxPerHost: options.maxPerHost,
    start: (job) => void run(job),
    giveBack: leaseRelease.release,
    onRoom: () => poller.wake(),
    nowMs: () => performance.now(),
  });
  const recorder = createRecorder({
    db,
    now,
    probeIntervalMs: options.probeIntervalMs ?? 1_000,
    waitingQuota,
    onMissed,
    hasFailures: (key) => scheduler.failuresOf(key) > 0,
    onHealth: (changed) => {
      for (const one of changed) {
        scheduler.setFailures(one, one.failures);
        const { company_id, subscription_id, disabledReason } = one;
        if (disabledReason)
          log.warn({ company_id, subscription_id, disabledReason }, 'subscription disabled');
      }
      health.tell(changed);
    },
    onRecorded: (finished) => {
      openEvents.written(finished.map(({ job }) => job));
      tail(finished);
    },
    onRoom: () => intake.pump(),
    log,
    metrics,
    tracer,
  });
  const health = shareHealth(bus, scheduler.setFailures);
  const run = async (job: Job): Promise<void> => {
    const finished = await attempt(job);
    // One that was not made gets its row in a while, and is due again at the end of its lease.
    if (finished) {
      const succeeded = finished.decision.outcome === 'succeeded';
      recorder.add(finished);
      minutes.add(job, finished.startedMs, finished.result.elapsedMs, succeeded);
      scheduler.ended(job, succeeded);
    } else scheduler.abandoned(job);
    intake.pump();
  };
  // Results that are not recorded yet take room: they must not pile up behind a slow database.
  const mayTake = (): boolean => holder.isSure() && !recorder.stalled() && recorder.pending() < slots;
  const poller = startPoller({ db, scheduler, now, leaseMs, holder: holder.id, log, metrics, mayTake });
  const fanOut = startFanOut({
    db,
    log,
    metrics,
    now,
    waitingQuota,
    onMissed,
    onWritten: () => poller.wake(),
  });
  const stream = await keepStream(bus, { replicas: options.replicas ?? 1, log });
  const intake = startIntake({
    bus,
    scheduler,
    companies: createCompanies({ db, nowMs: () => performance.now(), onHealth: scheduler.raiseFailures }),
    openEvents,
    giveBack: leaseRelease.release,
    write: fanOut.write,
    onMissing: stream.ensure,
    now,
    leaseMs,
    log,
    metrics,
    mayTake,
  });
  wake.onFreed = poller.wake;
  wake.onSure = () => {
    poller.wake();
    intake.pump();
  };
  const commands = await serveCommands({
    bus,
    db,
    now,
    waitingQuota,
    onQueueDue: poller.wake,
    onReset: (key) => {
      scheduler.setFailures(key, 0);
      health.tell([{ ...key, before: failuresUntilDisabled, failures: 0, disabledReason: null }]);
    },
    log,
    metrics,
  });
  const tests = await serveTestDeliveries({ bus, db, signer, poster, now, log, tracer });
  const heldCount = startHeldCount({ db, log, now });
  const waitingRecount = startWaitingRecount({ db, log, now, quota: waitingQuota });
  const retention = startDeliveryRetention({
    db,
    log,
    metrics,
    days: options.retentionDays ?? retentionDays,
    now,
  });
  const backlog = watchBacklog({ db, now, log, metrics });
  metrics.gauge(dispatcherMetrics.dispatcher_attempts_in_flight, scheduler.inFlight);
  metrics.gauge(dispatcherMetrics.dispatcher_slots, () => slots);
  metrics.gauge(dispatcherMetrics.dispatcher_waiting, scheduler.waiting);
  metrics.gauge(dispatcherMetrics.dispatcher_unrecorded, recorder.pending);

  return {
    drain: async () => {
      await Promise.all([
        intake.stop(),
        poller.stop(),
        commands.drain(),
        tests.drain(),
        backlog.stop(),
        heldCount.stop(),
        waitingRecount.stop(),
      ]);
      await retention.stop();
      health.stop();
      await scheduler.drain();
      await Promise.all([recorder.settle(), leaseRelease.settle(), minutes.drain(), fanOut.stop()]);
      await openEvents.settle();
      await holder.stop();
      await Promise.all([poster.close(), signer.close()]);
    },
  };
};

const recordingMs = 3_000;
