import { createMissedReport, type DeliveryPorts } from '@causeway/deliveries';
import {
  leaseMs as contractLeaseMs,
  retentionDays,
  retryScheduleMs,
  waitingDeliveriesQuota,
} from '@causeway/proto';
import {
  acrossTenants,
  byShard,
  type Database,
  type KeyRing,
  noMetrics,
  type Repeated,
  type ServiceOptions,
  startRetention,
} from '@causeway/runtime';
import { createAttempts } from './attempt/attempts.ts';
import { serveCommands } from './commands/serve-commands.ts';
import type { Context } from './context.ts';
import type { TakenEvent } from './delivery.ts';
import { startFanOut } from './fan-out/start-fan-out.ts';
import { createHealth, shareHealth } from './health.ts';
import { createPoster, type PosterOptions } from './http/post.ts';
import { createCompanies } from './intake/companies.ts';
import { startIntake } from './intake/intake.ts';
import { keepStream } from './intake/stream.ts';
import { startHolder } from './leases/holder.ts';
import { dispatcherMetrics } from './metrics.ts';
import { watchBacklog } from './queues/backlog.ts';
import { watchClockSteps } from './queues/clock-steps.ts';
import { startPoller } from './queues/poller.ts';
import { startHeldCount, startWaitingRecount } from './queues/recounts.ts';
import { startIncidentEnds } from './record/incidents.ts';
import { createRecorder } from './record/recorder.ts';
import { createScheduler } from './scheduling/scheduler.ts';
import { createSigner } from './sign/signer.ts';
import type { Tables } from './tables.ts';
import { serveTestDeliveries } from './test-delivery/serve.ts';

export interface Dispatcher {
  /** Resolves when attempts in flight have ended and are recorded, and the rest is given back. */
  drain(): Promise<void>;
}

export interface DispatcherOptions extends ServiceOptions<Tables> {
  readonly instance: string;
  /** One connection, for the sign of life that the leases depend on. */
  readonly beatDb: Database<Tables>;
  readonly keyRing: KeyRing;
  readonly allowHttp?: boolean;
  readonly allowPrivate?: boolean;
  readonly ports?: DeliveryPorts | undefined;
  readonly resolve?: PosterOptions['resolve'];
  readonly scheduleMs?: readonly number[];
  readonly timeoutMs?: number;
  readonly probeIntervalMs?: number;
  readonly leaseMs?: number;
  readonly slots?: number;
  readonly maxPerHost?: number;
  readonly waitingQuota?: number;
  readonly retentionDays?: number;
  readonly replicas?: number;
  readonly random?: () => number;
}

/**
 * One of any number of replicas. A delivery passes four stages: intake, scheduler, attempts, recorder. Each
 * knows only those after it, so the last one is built first. Resolves when the NATS server knows its
 * subscriptions.
 */
export const createDispatcher = async (options: DispatcherOptions): Promise<Dispatcher> => {
  const { bus, db, log, metrics = noMetrics, ports, resolve } = options;
  const { allowHttp = false, allowPrivate = false } = options;
  const { now = () => new Date(), random = Math.random } = options;
  const { slots = 512, timeoutMs = 10_000, leaseMs = contractLeaseMs } = options;
  const { waitingQuota = waitingDeliveriesQuota, retentionDays: days = retentionDays } = options;
  const nowMs = () => performance.now();
  const metric = dispatcherMetrics.dispatcher_events_missed_total;
  const onMissed = createMissedReport({ log, metrics, metric });
  const openEvents = new Set<TakenEvent>();
  const common = { bus, db, now, nowMs, waitingQuota, openEvents, onMissed, log, metrics };

  const health = createHealth();
  const sharedHealth = shareHealth(bus, health);
  const holder = await startHolder({ ...common, beatDb: options.beatDb, instance: options.instance });
  const signer = createSigner({ ...common, keyRing: options.keyRing });
  const poster = createPoster({ allowHttp, allowPrivate, ports, timeoutMs, resolve, now: nowMs });

  const { probeIntervalMs = 1_000, scheduleMs = retryScheduleMs } = options;
  const recorder = createRecorder({
    ...common,
    health,
    sharedHealth,
    holderId: holder.id,
    probeIntervalMs,
    maxUnrecorded: slots,
  });
  // The least that must be left of a lease when an attempt begins: it ends before, and is recorded.
  const lastStartMs = timeoutMs + Math.min(recordingMs, leaseMs / 10);
  const attempts = createAttempts({
    ...common,
    signer,
    poster,
    holder,
    recorder,
    scheduleMs,
    lastStartMs,
    random,
  });
  const { maxPerHost } = options;
  const scheduler = createScheduler({
    ...common,
    attempts,
    recorder,
    health,
    slots,
    maxPerHost,
    timeoutMs,
  });
  const poller = startPoller({ ...common, scheduler, health, holder, leaseMs });
  const fanOut = startFanOut({ ...common, poller, holder });
  const stream = await keepStream(bus, { replicas: options.replicas ?? 1, log });
  const companies = createCompanies({ ...common, health });
  const intake = startIntake({ ...common, scheduler, recorder, holder, companies, stream, fanOut, leaseMs });

  const commands = await serveCommands({ ...common, poller, sharedHealth });
  const tests = await serveTestDeliveries({ ...common, signer, poster });
  const upkeep = [
    watchBacklog(common),
    watchClockSteps({ ...common, leaseMs }),
    startHeldCount(common),
    startIncidentEnds(common),
    startWaitingRecount({ ...common, quota: waitingQuota }),
    startDeliveryRetention({ ...common, days }),
  ];

  return {
    drain: async () => {
      const takers = [intake, poller, commands, tests, ...upkeep];
      await Promise.all(takers.map((taker) => taker.stop()));
      sharedHealth.stop();
      await scheduler.drain();
      await Promise.all([recorder.drain(), fanOut.stop()]);
      await holder.stop();
      await Promise.all([poster.close(), signer.close()]);
    },
  };
};

const recordingMs = 3_000;

export const datedTables = ['deliveries', 'delivery_attempts', 'delivery_minutes'] as const;

const startDeliveryRetention = ({ db, log, metrics, days, now }: DeliveryRetentionOptions): Repeated =>
  startRetention({
    db,
    log,
    tables: datedTables,
    lock: 'retention',
    days,
    now,
    metrics,
    onDropped: async (table) => {
      if (table === 'deliveries') await recountHeld(db, now());
    },
  });

/** The dropped days may have had held deliveries. */
const recountHeld = async (db: Database<Tables>, now: Date): Promise<void> => {
  const companies = await acrossTenants(db, 'retention works on whole tables')
    .selectFrom('delivery_queues')
    .select('company_id')
    .distinct()
    .where('held_deliveries', '>', 0)
    .execute();
  if (companies.length > 0) await byShard(db, companies, ({ company_id }) => company_id, recount(now));
};

const recount = (now: Date) => async (companies: readonly { company_id: number }[], db: Database<Tables>) => {
  await db
    .updateTable('delivery_queues')
    .set({ count_held_utc: now })
    .where(
      'company_id',
      'in',
      companies.map(({ company_id }) => company_id),
    )
    .where('held_deliveries', '>', 0)
    .execute();
};

interface DeliveryRetentionOptions extends Pick<Context, 'db' | 'now' | 'log' | 'metrics'> {
  readonly days: number;
}
