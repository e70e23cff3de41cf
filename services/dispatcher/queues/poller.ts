import { setTimeout as sleep } from 'node:timers/promises';
import { failuresUntilProbing } from '@causeway/proto';
import { acrossTenants, type Database, type Log, type Metrics, partsByShard } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { Job, QueueKey } from '../job.ts';
import { dispatcherMetrics } from '../metrics.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import { readBodies } from '../store.ts';
import type { Tables } from '../tables.ts';
import { createClaim } from './claim.ts';

/** Looks for queues that are due and takes from them. */
interface Poller {
  /** Makes it look now, because a subscription has room again. */
  wake(): void;
  /** Stops taking and resolves when the current look has ended. */
  stop(): Promise<void>;
}

/**
 * Retries, backlogs, expired leases, released and replayed deliveries all come this way. It runs one look at a time,
 * and the next one at once if more was due than it could take, otherwise after a pause.
 */
export const startPoller = (options: PollerOptions): Poller => {
  const { db, scheduler, now, leaseMs, holder, log, metrics, mayTake } = options;
  const claim = createClaim();
  const turns = createTurns(scheduler);
  const all = acrossTenants(db, 'a dispatcher looks for due queues of all companies');
  const looks = metrics?.counter(dispatcherMetrics.dispatcher_queue_looks_total).cell();
  const taken = metrics?.counter(dispatcherMetrics.dispatcher_queue_taken_total).cell();
  const stopping = new AbortController();
  let woken = true;
  let resting: AbortController | undefined;
  let down = false;

  /** @returns whether to look again at once. */
  const look = async (): Promise<boolean> => {
    const { queueSlots } = scheduler.free();
    if (!mayTake() || queueSlots === 0) return false;
    if (looks) looks.value++;
    const at = now();
    const ownId = holder();
    const { queues, more } = await turns.next(all, at);
    if (queues.length === 0) return more;
    // One after the other, so that the next one's share knows what this one has taken.
    for (const part of await partsByShard(db, queues, ({ company_id }) => company_id))
      await take(part.db, part.rows, { at, ownId });
    return more;
  };

  const take = async (
    own: Database<Tables>,
    queues: readonly QueueKey[],
    { at, ownId }: { readonly at: Date; readonly ownId: number },
  ): Promise<void> => {
    const { claims, leaseMs: untilMs } = await claim(own, {
      queues,
      share: (targets) => {
        for (const target of targets) scheduler.setFailures(target, target.consecutive_failures);
        return scheduler.share(targets);
      },
      now: at,
      leaseMs,
      holder: ownId,
    });
    const deliveries = claims.flatMap((one) => one.deliveries);
    if (deliveries.length > 0) {
      if (taken) taken.value += deliveries.length;
      const all = acrossTenants(own, 'a dispatcher reads deliveries of many companies in one batch');
      const bodies = await readBodies(all, deliveries);
      for (const { target, deliveries: ours } of claims) {
        const probe = target.consecutive_failures >= failuresUntilProbing;
        for (const { due_utc: _, attempts, ...delivery } of ours) {
          const body = bodies.get(delivery.event_id);
          // Cleanup has dropped its event and is about to drop this delivery.
          if (!body) continue;
          const job: Job = {
            ...delivery,
            attempt: attempts + 1,
            leaseMs: untilMs,
            holder: ownId,
            source: 'queue',
            probe,
            target,
            body,
          };
          scheduler.offer(job);
        }
      }
    }
    for (const { target, more } of claims) if (more) scheduler.wanted(target);
  };

  const rest = async (pauseMs: number): Promise<void> => {
    if (woken || stopping.signal.aborted) return;
    resting = new AbortController();
    await sleep(pauseMs, undefined, { signal: resting.signal }).catch(() => {});
    resting = undefined;
  };

  const running = (async () => {
    while (!stopping.signal.aborted) {
      woken = false;
      try {
        if (await look()) woken = true;
        if (down) log.info('reading due deliveries again');
        down = false;
        // Jitter, so that replicas do not poll in step.
        await rest(pollEveryMs * (0.75 + Math.random() / 2));
      } catch (error) {
        if (!down) log.warn({ error }, 'due deliveries could not be read');
        down = true;
        await sleep(afterFailureMs, undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  })();

  return {
    wake: () => {
      woken = true;
      resting?.abort();
    },
    stop: () => {
      stopping.abort();
      resting?.abort();
      return running;
    },
  };
};

const pollEveryMs = 150;
const afterFailureMs = 500;

interface PollerOptions {
  readonly db: Database<Tables>;
  readonly scheduler: Scheduler;
  readonly now: () => Date;
  readonly leaseMs: number;
  /** The ID that leases name. */
  readonly holder: () => number;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  /** False while results cannot be recorded, or leases may not be held. */
  readonly mayTake: () => boolean;
}

/** Chooses which of the due queues come next. */
interface Turns {
  /** @returns queues that have room, and whether more are due than were read. */
  next(
    db: Kysely<Tables>,
    now: Date,
  ): Promise<{ readonly queues: readonly QueueKey[]; readonly more: boolean }>;
}

/**
 * Companies take turns, and so do the queues of a company, the longest due first. If more queues are due than one
 * look reads, the next looks skip the companies already read until all others have had a turn. So a company with a
 * thousand due queues delays another by one look, not by a thousand.
 */
const createTurns = (scheduler: Pick<Scheduler, 'full' | 'share' | 'wanted'>): Turns => {
  const served = new Set<number>();
  return {
    next: async (db, now) => {
      const full = scheduler.full();
      const due = await readDue(db, now, { ...full, companies: [...full.companies, ...served] });
      // Their URLs are not known yet; the limit per host applies when they are taken.
      const found = inTurns(due).map((queue) => ({ ...queue, url: '' }));
      const counts = scheduler.share(found);
      const fit = found.filter((_, at) => counts[at]! > 0);
      for (const [at, queue] of found.entries()) if (counts[at] === 0) scheduler.wanted(queue);
      const queues = fit.slice(0, maxQueues);
      const left = due.length === maxRead || queues.length < fit.length;
      const more = left || served.size > 0;
      if (left) for (const { company_id } of queues) served.add(company_id);
      else served.clear();
      return { queues, more };
    },
  };
};

/** How many queues one look takes, and how many candidates it reads. */
const maxQueues = 64;
const maxRead = 256;

/** Reads without locks; the first replica to claim a queue has it. */
const readDue = async (
  db: Kysely<Tables>,
  now: Date,
  { companies, queues }: { readonly companies: readonly number[]; readonly queues: readonly QueueKey[] },
): Promise<readonly QueueKey[]> => {
  const { rows } = await sql<QueueKey>`
    SELECT company_id, subscription_id FROM delivery_queues FORCE INDEX (next_due)
    WHERE next_due_utc <= ${now}
      ${companies.length > 0 ? sql`AND company_id NOT IN (${sql.join(companies)})` : sql``}
      ${queues.length > 0 ? sql`AND (company_id, subscription_id) NOT IN (${sql.join(queues.map(tuple))})` : sql``}
    ORDER BY next_due_utc LIMIT ${sql.lit(maxRead)}`.execute(db);
  return rows;
};

const tuple = ({ company_id, subscription_id }: QueueKey) => sql`(${company_id}, ${subscription_id})`;

/**
 * Picks the first queue of each company, then the second of each, and so on. If a company has more than fit, it
 * starts at a random one, so that replicas that look at the same moment choose different queues.
 */
const inTurns = (due: readonly QueueKey[]): readonly QueueKey[] => {
  const companies = [...Map.groupBy(due, ({ company_id }) => company_id).values()];
  const mixed = due.length > maxQueues ? rotated(companies.map(rotated)) : companies;
  const longest = Math.max(0, ...mixed.map((queues) => queues.length));
  return Array.from({ length: longest }, (_, at) => mixed.flatMap((queues) => queues[at] ?? [])).flat();
};

const rotated = <Item>(items: readonly Item[]): readonly Item[] => {
  const from = Math.floor(Math.random() * items.length);
  return [...items.slice(from), ...items.slice(0, from)];
};
