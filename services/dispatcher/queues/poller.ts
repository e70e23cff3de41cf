import type { DeliveryKey } from '@causeway/deliveries';
import { type EventType, failuresUntilProbing, matches, payloadIn } from '@causeway/proto';
import {
  acrossTenants,
  type Database,
  partsByShard,
  type Repeated,
  repeat,
  rowList,
  tenantIs,
  transaction,
} from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { Context } from '../context.ts';
import { companyOf, deliveryName, type QueueKey } from '../delivery.ts';
import type { Health } from '../health.ts';
import type { Holder } from '../leases/holder.ts';
import { dispatcherMetrics } from '../metrics.ts';
import type { QueueRoom, Scheduler } from '../scheduling/scheduler.ts';
import {
  addToReplays,
  type FoundTarget,
  isOneOfDeliveries,
  isOneOfDue,
  isQueue,
  readContents,
  setState,
} from '../store.ts';
import type { Tables } from '../tables.ts';
import { claimDue } from './claim.ts';

/**
 * Retries, backlogs, expired leases, released and replayed deliveries. One look at a time, and the next at
 * once if more was due than could be taken.
 */
export const startPoller = (options: PollerOptions): Repeated => {
  const { db, scheduler, health, now, nowMs, leaseMs, holder, log, metrics } = options;
  const nextQueues = createQueueTurns(scheduler.queues);
  const taken = metrics.counter(dispatcherMetrics.dispatcher_queue_taken_total).cell();
  let pauseMs = pollEveryMs;

  /** @returns whether to look again at once, 1 or 0. */
  const look = async (): Promise<number> => {
    pauseMs = afterFailureMs;
    const more = await lookNow();
    pauseMs = pollEveryMs;
    return more ? 1 : 0;
  };
  const lookNow = async (): Promise<boolean> => {
    if (scheduler.free().queueSlots === 0) return false;
    const started = now();
    const startedMs = nowMs();
    const holderId = holder.id();
    const all = acrossTenants(db, 'a dispatcher looks for due queues of all companies');
    const { queues, more } = await nextQueues(all, started);
    // One shard after the other, so that the share of the next shard knows what was taken before.
    for (const part of await partsByShard(db, queues, companyOf))
      if (part.rows.length > 0)
        await take(part.db, part.rows, { now: started, nowMs: startedMs, leaseMs, holderId });
    return more;
  };

  const take = async (
    shard: Database<Tables>,
    queues: readonly QueueKey[],
    lease: Pick<Parameters<typeof claimDue>[1], 'now' | 'nowMs' | 'leaseMs' | 'holderId'>,
  ): Promise<void> => {
    const { claims, leaseMs: untilMs } = await claimDue(shard, {
      ...lease,
      queues,
      allot: (targets) => {
        for (const target of targets) health.set(target, target.consecutive_failures);
        return scheduler.queues.allot(targets);
      },
    });
    const claimed = claims.flatMap((claim) => claim.deliveries);
    taken.value += claimed.length;
    const all = acrossTenants(shard, 'a dispatcher reads deliveries of many companies in one batch');
    const contents = await readContents(all, claimed);
    for (const { target, deliveries, startBeforeMs } of claims) {
      const probe = target.consecutive_failures >= failuresUntilProbing;
      const unwanted = await findUnwanted(all, target, deliveries, contents);
      if (unwanted.length > 0) {
        const count = await discardUnwanted(shard, target, unwanted, { leaseMs: untilMs, now: now() });
        const { company_id: companyId, subscription_id: subscriptionId } = target;
        log.info(
          { companyId, subscriptionId, deliveries: count },
          'deliveries that are not asked for discarded',
        );
      }
      for (const { due_utc: _, attempts, ...delivery } of without(deliveries, unwanted)) {
        const content = contents.get(delivery.event_id);
        // Without content, cleanup has dropped the event and is about to drop this delivery.
        if (content)
          scheduler.offer({
            ...delivery,
            ...content,
            attempt: attempts + 1,
            leaseMs: untilMs,
            holder: lease.holderId,
            source: 'queue',
            probe,
            startBeforeMs,
            target,
          });
      }
    }
    for (const { target, more } of claims) if (more) scheduler.queues.markBacklogged(target);
  };

  const polling = repeat(look, {
    pauseMs: () => pauseMs,
    onError: (error) => log.warn({ error }, 'reading due deliveries failed; retried'),
  });
  scheduler.queues.onRoom(polling.wake);
  holder.onSure(polling.wake);
  holder.onFreed(polling.wake);
  return polling;
};

const pollEveryMs = 250;
const afterFailureMs = 500;

interface PollerOptions extends Pick<Context, 'db' | 'now' | 'nowMs' | 'log' | 'metrics'> {
  readonly scheduler: Scheduler;
  readonly health: Pick<Health, 'set'>;
  readonly holder: Holder;
  readonly leaseMs: number;
}

/**
 * Companies take turns, and so do the queues of a company, the longest due first. If more queues are due than
 * one look reads, the next looks skip the companies already read until all others have had a turn. So a
 * company with a thousand due queues delays another by one look.
 * @returns queues that have room, and whether more are due than were read.
 */
const createQueueTurns = (room: QueueRoom) => {
  const served = new Set<number>();
  return async (
    db: Kysely<Tables>,
    now: Date,
  ): Promise<{ readonly queues: readonly QueueKey[]; readonly more: boolean }> => {
    const saturated = room.saturated();
    const due = await readDue(db, now, {
      ...saturated,
      companies: [...saturated.companies, ...served],
    });
    // Their URLs are not known yet; the limit per host applies when they are taken.
    const found = inTurns(due).map((queue) => ({ ...queue, url: '' }));
    const counts = room.allot(found);
    const fit = found.filter((_, at) => counts[at]! > 0);
    for (const [at, queue] of found.entries()) if (counts[at] === 0) room.markBacklogged(queue);
    const queues = fit.slice(0, maxQueues);
    const left = due.length === maxRead || queues.length < fit.length;
    const more = left || served.size > 0;
    if (left) for (const { company_id } of queues) served.add(company_id);
    else served.clear();
    return { queues, more };
  };
};

const maxQueues = 64;
const maxRead = 256;

const readDue = async (
  db: Kysely<Tables>,
  now: Date,
  { companies, queues }: { readonly companies: readonly number[]; readonly queues: readonly QueueKey[] },
): Promise<readonly QueueKey[]> => {
  const { rows } = await sql<QueueKey>`
    SELECT company_id, subscription_id FROM delivery_queues FORCE INDEX (next_due)
    WHERE next_due_utc <= ${now}
      ${companies.length > 0 ? sql`AND company_id NOT IN (${sql.join(companies)})` : sql``}
      ${queues.length > 0 ? sql`AND (company_id, subscription_id) NOT IN (${rowList(queues.map(keyOf))})` : sql``}
    ORDER BY next_due_utc LIMIT ${sql.lit(maxRead)}`.execute(db);
  return rows;
};

const keyOf = ({ company_id, subscription_id }: QueueKey) => [company_id, subscription_id];

/**
 * The first queue of each company, then the second of each, and so on. If more are due than fit, a random one
 * is first, so that replicas that look at the same moment choose different queues.
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

type FoundDelivery = DeliveryKey & { readonly event_type: EventType };

/**
 * What a subscription no longer asks for: types that were removed, events that its present conditions leave out. A resend names one
 * delivery by hand, so it is sent, and so is what was made before its person was erased (contract, "Deliveries").
 * @param contents without an event that was removed, whose deliveries are about to be dropped
 */
const findUnwanted = async <Delivery extends FoundDelivery>(
  db: Kysely<Tables>,
  { company_id, event_types, conditions }: FoundTarget,
  deliveries: readonly Delivery[],
  contents: ReadonlyMap<number, { readonly body: Uint8Array }>,
): Promise<readonly Delivery[]> => {
  const unwanted = deliveries.filter(({ event_id, event_type }) => {
    if (!event_types.includes(event_type)) return true;
    const content = conditions && contents.get(event_id);
    if (!content) return false;
    const payload = payloadIn(content.body) as { readonly erased?: unknown } | null;
    return payload?.erased !== true && !matches(conditions, payload);
  });
  const replays = unwanted.flatMap(({ replay_id }) => (replay_id > 0 ? [replay_id] : []));
  if (replays.length === 0) return unwanted;
  const resends = await db
    .selectFrom('replays')
    .select('replay_id')
    .where('company_id', '=', company_id)
    .where('replay_id', 'in', replays)
    .where('kind', '=', 'resend')
    .execute();
  const sent = new Set(resends.map(({ replay_id }) => replay_id));
  return unwanted.filter(({ replay_id }) => !sent.has(replay_id));
};

/**
 * Discards them, and those among the next that are due, since each look at a queue takes only as many as may be attempted. The queue is due
 * again at once, also for another probe.
 */
const discardUnwanted = async (
  db: Database<Tables>,
  target: FoundTarget,
  leased: readonly FoundDelivery[],
  { leaseMs, now }: { readonly leaseMs: number; readonly now: Date },
): Promise<number> => {
  const all = acrossTenants(db, 'a dispatcher discards what one subscription no longer asks for');
  const next = await readNext(all, target, now);
  const contents = await readContents(all, target.conditions ? next : []);
  const more = await findUnwanted(all, target, next, contents);
  return transaction(db, async (trx) => {
    const unguarded = acrossTenants(trx, 'a dispatcher discards what one subscription no longer asks for');
    await unguarded
      .updateTable('delivery_queues')
      .set({
        next_due_utc: now,
        probe_due_utc: sql`IF(probe_due_utc = ${new Date(leaseMs)}, ${now}, probe_due_utc)`,
      })
      .where(isQueue(target))
      .execute();
    const { rows } = await sql<DeliveryKey>`
      SELECT company_id, event_id, subscription_id, replay_id, created_utc FROM deliveries FORCE INDEX (PRIMARY)
      WHERE state = 'waiting' AND (${isOneOfDue(leased, () => new Date(leaseMs))}
        ${more.length > 0 ? sql`OR (${isOneOfDeliveries(more)} AND due_utc <= ${now})` : sql``})
      FOR UPDATE`.execute(unguarded);
    if (rows.length === 0) return 0;
    await setState(unguarded, rows, { state: 'dropped', due_utc: null, updated_utc: now });
    await addToReplays(trx, target.company_id, rows, 'made', -1);
    return rows.length;
  });
};

const readNext = async (
  db: Kysely<Tables>,
  { company_id, subscription_id, conditions }: FoundTarget,
  now: Date,
): Promise<readonly FoundDelivery[]> => {
  const { rows } = await sql<FoundDelivery>`
    SELECT company_id, event_id, subscription_id, replay_id, created_utc, event_type
    FROM deliveries FORCE INDEX (by_state)
    WHERE company_id = ${tenantIs(company_id)} AND subscription_id = ${subscription_id}
      AND state = 'waiting' AND due_utc <= ${now}
    ORDER BY due_utc LIMIT ${sql.lit(conditions ? 50 : 500)}`.execute(db);
  return rows;
};

const without = <Delivery extends DeliveryKey>(
  deliveries: readonly Delivery[],
  others: readonly DeliveryKey[],
): readonly Delivery[] => {
  const names = new Set(others.map(deliveryName));
  return deliveries.filter((one) => !names.has(deliveryName(one)));
};
