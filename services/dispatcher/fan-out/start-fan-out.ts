import type { EventType } from '@causeway/proto';
import {
  acrossTenants,
  createBatch,
  createBatchWriter,
  createMeasurement,
  type Database,
  isUnavailable,
  type Repeated,
  repeat,
} from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { Context } from '../context.ts';
import { companyOf, type TakenEvent } from '../delivery.ts';
import type { Holder } from '../leases/holder.ts';
import { dispatcherMetrics } from '../metrics.ts';
import type { Tables } from '../tables.ts';
import { type EventKey, fanOutEvents } from './fan-out-events.ts';

/** For events that do not fit the normal path. */
export interface FanOut {
  write(event: EventKey): void;
  stop(): Promise<void>;
}

export const startFanOut = (options: FanOutOptions): FanOut => {
  const { db, log, metrics, now, waitingQuota, onMissed, poller, openEvents } = options;
  const written = metrics.counter(dispatcherMetrics.dispatcher_events_written_total).cell();

  const write = async (keys: readonly EventKey[], shard: Database<Tables>): Promise<number> => {
    let done = 0;
    for (let left = keys; left.length > 0; ) {
      const fannedOut = await fanOutEvents(shard, left, { now, waitingQuota });
      done += fannedOut.events;
      written.value += fannedOut.events;
      onMissed(fannedOut.missed);
      if (fannedOut.deliveries > 0) poller.wake();
      left = fannedOut.left;
    }
    return done;
  };
  const fanOut = createBatchWriter({
    db,
    companyOf,
    write,
    pauseMs: () => undefined,
    onRefused: ({ company_id: companyId, event_id: eventId }, error) =>
      log.error({ error, companyId, eventId }, 'fan-out of an event failed; it stays in the outbox'),
  });
  const batch = createBatch<EventKey>({
    name: 'events-to-write',
    metrics,
    when: setImmediate,
    maxItems: 500,
    maxWaiting: 10_000,
    flush: async (events) => {
      try {
        await fanOut(events);
      } catch (error) {
        log.warn(
          { error, events: events.length },
          'fan-out failed; the events are taken when their leases end',
        );
      }
    },
  });
  const sweeper = startSweeper({
    ...options,
    work: async (keys) => {
      const own = new Set([...openEvents].map(({ event_id }) => event_id));
      const left = keys.filter(({ event_id }) => !own.has(event_id));
      return (await fanOut(left)).reduce((sum, count) => sum + count, 0);
    },
  });

  return {
    write: batch.add,
    stop: async () => {
      await sweeper.stop();
      await batch.drain();
    },
  };
};

interface FanOutOptions
  extends Pick<Context, 'db' | 'now' | 'waitingQuota' | 'onMissed' | 'log' | 'metrics'> {
  readonly poller: Pick<Repeated, 'wake'>;
  readonly openEvents: ReadonlySet<TakenEvent>;
  readonly holder: Pick<Holder, 'othersOpenUntil'>;
}

/**
 * Takes events whose leases have expired: their messages were lost, or their dispatcher has died or had no
 * processor. Not those under way here, which get rows when the process runs again, nor, for a while, those that
 * another may have under way that lives and cannot write. Searches without locks, because the dispatcher that has an
 * event would skip a locked row.
 */
const startSweeper = ({ db, holder, log, metrics, now, work }: SweeperOptions): Repeated => {
  const swept = metrics.counter(dispatcherMetrics.dispatcher_events_swept_total).cell();
  const outbox = createMeasurement<{ readonly lateMs: number; readonly oldestMs: number }>(measuredForMs);
  metrics.gauge(dispatcherMetrics.dispatcher_outbox_oldest_seconds, () => seconds(outbox.read()?.lateMs));
  metrics.gauge(dispatcherMetrics.dispatcher_events_oldest_seconds, () => seconds(outbox.read()?.oldestMs));
  let lastCompany = 0;
  let wasAway = false;
  let quietUntilMs = 0;
  let pauseMs = sweepEveryMs;
  const sweep = async (): Promise<number> => {
    if (wasAway) quietUntilMs = performance.now() + quietMs;
    try {
      const done = await sweepNow();
      wasAway = false;
      return done;
    } catch (error) {
      wasAway = isUnavailable(error);
      throw error;
    }
  };
  const sweepNow = async (): Promise<number> => {
    const all = acrossTenants(
      db as Kysely<Tables>,
      'the sweeper looks for abandoned events of all companies',
    );
    const { due, created } = await readOldest(all);
    const at = now();
    // The next lease to end is not kept waiting.
    const soonMs = due === null ? sweepEveryMs : due.getTime() - at.getTime();
    pauseMs = soonMs > 0 ? Math.max(leastPauseMs, Math.min(soonMs, sweepEveryMs)) : lateEveryMs;
    const ageMs = (since: Date | null) => (since === null ? 0 : Math.max(0, at.getTime() - since.getTime()));
    const lateMs = ageMs(due);
    outbox.set({ lateMs, oldestMs: ageMs(created) });
    if (lateMs === 0 || performance.now() < quietUntilMs) return 0;
    const left = await leftBehind(all, {
      endedBy: endedBy(at, holder.othersOpenUntil()),
      after: lastCompany,
    });
    // The company whose events filled the sweep goes on when the others have had their turn.
    lastCompany = left.length < rowsPerSweep ? 0 : Math.max(...left.map(companyOf));
    const done = await work(left);
    swept.value += done;
    if (done > 0) log.info({ events: done }, 'events swept');
    return done;
  };
  return repeat(sweep, {
    pauseMs: () => pauseMs,
    onError: (error) => log.warn({ error }, 'sweep failed; retried'),
  });
};

/** Shorter than a lease: each is seen before it ends. */
const sweepEveryMs = 1_000;
const lateEveryMs = 250;
const leastPauseMs = 50;
/** A pass takes seconds after an outage, while it fans out what was left behind. */
const measuredForMs = 30_000;
/** After an outage of the database, live dispatchers first record what they have delivered meanwhile. */
const quietMs = 1_000;
const rowsPerSweep = 500;
/** A dispatcher that lives and has not written for so long is no reason to wait. */
const othersWriteWithinMs = 10_000;

const endedBy = (now: Date, othersOpenUntil: Date | undefined): Date => {
  if (othersOpenUntil === undefined || othersOpenUntil > now) return now;
  return new Date(Math.max(othersOpenUntil.getTime() - 1, now.getTime() - othersWriteWithinMs));
};

interface SweeperOptions extends Pick<FanOutOptions, 'db' | 'holder' | 'log' | 'metrics' | 'now'> {
  readonly work: (events: readonly EventKey[]) => Promise<number>;
}

/** The table has more rows only after a long outage. */
const readOldest = async (db: Kysely<Tables>): Promise<OldestEvent> => {
  const { rows } = await sql<OldestEvent>`
    SELECT MIN(leased_until) AS due, MIN(created_utc) AS created
    FROM (SELECT leased_until, created_utc FROM event_outbox LIMIT 10000) AS o`.execute(db);
  return rows[0] ?? { due: null, created: null };
};

interface OldestEvent {
  readonly due: Date | null;
  readonly created: Date | null;
}

const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000);

interface Search {
  /** Leases that ended later are left alone. */
  readonly endedBy: Date;
  /** This company, so that companies take turns after an outage. */
  readonly after: number;
}

const leftBehind = async (
  db: Kysely<Tables>,
  { endedBy: ended, after }: Search,
): Promise<readonly EventKey[]> => {
  const { rows } = await sql<EventKey & { type: EventType | null }>`
    SELECT o.company_id, o.event_id, e.type
    FROM (
      SELECT company_id, event_id, sequence, created_utc FROM event_outbox
      WHERE company_id > ${after} AND leased_until <= ${ended}
      ORDER BY company_id, event_id LIMIT ${rowsPerSweep}
    ) AS o
    LEFT JOIN events AS e ON e.company_id = o.company_id AND e.sequence = o.sequence
      AND e.created_utc = o.created_utc`.execute(db);
  return rows;
};
