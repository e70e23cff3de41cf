import { type ReplayRow, waitingDeliveriesQuota } from '@causeway/proto';
import { admitWaiting, type Trx } from '@causeway/runtime';
import { sql } from 'kysely';
import { addDeliveries } from '../deliveries/add-deliveries.ts';
import { addHeld } from '../deliveries/held.ts';
import { makeQueuesDue } from '../deliveries/make-queues-due.ts';
import type { Tables } from '../tables.ts';
import { lastPosition } from './begin.ts';
import { type Candidate, findCandidates } from './candidates.ts';
import { discardHeldPage, releasePage } from './held.ts';
import { selectionOfRow } from './selection.ts';

/** The columns of the replay's row that a page changes. */
type Changes = Partial<Omit<ReplayRow, 'company_id' | 'replay_id' | 'filter'>>;

/**
 * A replay makes more deliveries only while fewer than this many of the subscription's deliveries are due and not
 * taken, so that live traffic hardly waits behind it. First attempts do not wait in the queue at all.
 */
const maxDue = 100;
const pageEveryMs = 250;
/** Search time of one page; if matches are rare, the page is short. */
const maxLookMs = 200;
const whileFullMs = 500;
const whileOffMs = 2_000;
/** Interval of the check whether all deliveries of the replay have ended. */
const whileEndingMs = 2_000;
const dropEveryMs = 20;

/** The most deliveries that a replay makes in a second. */
export const fastestPerSecond = (maxDue * 1000) / pageEveryMs;

/**
 * Runs one step of a replay whose row is locked, and sets when the next one is due, in one transaction: an
 * interrupted replay continues exactly where it stopped.
 */
export const nextPage = async (
  trx: Trx<Tables>,
  replay: ReplayRow,
  now: Date,
  waitingQuota = waitingDeliveriesQuota,
): Promise<void> => {
  const { company_id, replay_id } = replay;
  await trx
    .updateTable('replays')
    .set(await step(trx, replay, now, waitingQuota))
    .where('company_id', '=', company_id)
    .where('replay_id', '=', replay_id)
    .execute();
};

const step = async (trx: Trx<Tables>, replay: ReplayRow, now: Date, quota: number): Promise<Changes> => {
  const { company_id, subscription_id } = replay;
  const inMs = (delayMs: number) => ({ next_page_utc: new Date(now.getTime() + delayMs) });
  const ended = { finished_utc: now, next_page_utc: null };
  if (replay.state === 'cancelled')
    return (await dropWaiting(trx, replay, now)) ? inMs(0) : { next_page_utc: null };
  const subscription = await trx
    .selectFrom('subscriptions')
    .select('enabled')
    .where('company_id', '=', company_id)
    .where('subscription_id', '=', subscription_id)
    .executeTakeFirst();
  // If the subscription was deleted, the dispatcher that takes its queue drops the waiting deliveries.
  if (!subscription) return { state: 'cancelled', ...ended };
  if (replay.kind === 'drop') {
    const { count, more } = await discardHeldPage(trx, replay, now);
    const made = replay.made + count;
    return more ? { made, ...inMs(dropEveryMs) } : { made, state: 'done', ...ended };
  }
  if (subscription.enabled !== 1) return inMs(whileOffMs);
  if (replay.position === lastPosition) {
    const over = replay.succeeded + replay.failed >= replay.made;
    return over ? { state: 'done', ...ended } : inMs(whileEndingMs);
  }
  const room = maxDue - (await countDue(trx, replay, now));
  if (room <= 0) return inMs(whileFullMs);
  if (replay.kind === 'release') {
    const { count, more } = await releasePage(trx, replay, { limit: room, quota, now });
    const made = replay.made + count;
    if (!more) return { made, state: 'done', ...ended };
    return { made, ...inMs(count > 0 ? pageEveryMs : whileFullMs) };
  }
  const wanted = { after: replay.position, limit: room, maxMs: maxLookMs };
  const found = await findCandidates(trx, selectionOfRow(replay), wanted);
  const candidates = found.candidates.map((one) => ({ ...one, company_id, subscription_id }));
  const { admitted, refused } = await admitWaiting(trx, candidates, { quota, now, makesRoom: false });
  await make(trx, replay, admitted, now);
  const made = replay.made + admitted.length;
  if (refused.length > 0)
    return { made, position: admitted.at(-1)?.position ?? replay.position, ...inMs(whileFullMs) };
  return { made, position: found.end ? lastPosition : found.position, ...inMs(pageEveryMs) };
};

const make = async (
  trx: Trx<Tables>,
  { company_id, subscription_id, replay_id, kind }: ReplayRow,
  page: readonly Candidate[],
  now: Date,
): Promise<void> => {
  if (page.length === 0) return;
  if (kind === 'missed') {
    // This replay delivers the held deliveries of these events instead.
    const { numUpdatedRows } = await trx
      .updateTable('deliveries')
      .set({ state: 'dropped', updated_utc: now })
      .where('company_id', '=', company_id)
      .where('subscription_id', '=', subscription_id)
      .where('state', '=', 'held')
      .where(
        'event_id',
        'in',
        page.map(({ event_id }) => event_id),
      )
      .executeTakeFirst();
    await addHeld(trx, { company_id, subscription_id }, -Number(numUpdatedRows), now);
  }
  const key = { company_id, subscription_id, replay_id, due_utc: now };
  await addDeliveries(
    trx,
    page.map(({ position, ...event }) => ({ ...event, ...key })),
    now,
  );
  await makeQueuesDue(trx, [{ company_id, subscription_id, due_utc: now }]);
};

/** Counts the deliveries that are due and not taken, up to `maxDue`. */
const countDue = async (
  trx: Trx<Tables>,
  { company_id, subscription_id }: ReplayRow,
  now: Date,
): Promise<number> => {
  const due = await trx
    .selectFrom('deliveries as d')
    .modifyFront(sql`/*+ INDEX(d by_state) */`)
    .select('event_id')
    .where('company_id', '=', company_id)
    .where('subscription_id', '=', subscription_id)
    .where('state', '=', 'waiting')
    .where('due_utc', '<=', now)
    .limit(maxDue)
    .execute();
  return due.length;
};

/**
 * Drops a chunk of a replay's waiting deliveries. Deliveries in progress are dropped too: their attempt is recorded,
 * and no other follows.
 * @returns whether more may be left.
 */
export const dropWaiting = async (
  trx: Trx<Tables>,
  { company_id, subscription_id, replay_id }: ReplayRow,
  now: Date,
): Promise<boolean> => {
  const { numUpdatedRows } = await trx
    .updateTable('deliveries')
    .set({ state: 'dropped', due_utc: null, updated_utc: now })
    .where('company_id', '=', company_id)
    .where('subscription_id', '=', subscription_id)
    .where('replay_id', '=', replay_id)
    .where('state', '=', 'waiting')
    .limit(dropChunk)
    .executeTakeFirst();
  return Number(numUpdatedRows) === dropChunk;
};

const dropChunk = 500;
