import {
  admitWaiting,
  type DeliveryRow,
  findReplayCandidates,
  type ReplayRow,
  replaySelectionOf,
} from '@causeway/deliveries';
import { maxDueInReplay, replayPageEveryMs } from '@causeway/proto';
import type { Trx } from '@causeway/runtime';
import { sql } from 'kysely';
import { addHeld, scheduleQueues } from '../queue-rows.ts';
import { addToReplays, isQueue, setState } from '../store.ts';
import type { Tables } from '../tables.ts';
import { applyFirst } from './apply-change.ts';

type Changes = Partial<Omit<ReplayRow, 'company_id' | 'replay_id' | 'filter'>>;

/** If matches are rare, the page is short. */
const maxLookMs = 200;
const whileFullMs = 500;
const whileOffMs = 2_000;
const whileEndingMs = 2_000;
const discardEveryMs = 20;

/** Runs one step of a replay whose row is locked. An interrupted replay continues where it stopped. */
export const nextPage = async (
  trx: Trx<Tables>,
  replay: ReplayRow,
  { now, waitingQuota }: PageOptions,
): Promise<void> => {
  const { company_id, replay_id } = replay;
  await trx
    .updateTable('replays')
    .set(await step(trx, replay, now, waitingQuota))
    .where('company_id', '=', company_id)
    .where('replay_id', '=', replay_id)
    .execute();
};

interface PageOptions {
  readonly now: Date;
  readonly waitingQuota: number;
}

const step = async (trx: Trx<Tables>, replay: ReplayRow, now: Date, quota: number): Promise<Changes> => {
  const { company_id, subscription_id } = replay;
  const inMs = (delayMs: number) => ({ next_page_utc: new Date(now.getTime() + delayMs) });
  const ended = { finished_utc: now, next_page_utc: null };
  if (replay.state === 'cancelled')
    return (await dropWaiting(trx, replay, now)) ? inMs(0) : { next_page_utc: null };
  if (await applyFirst(trx, { company_id, subscription_id }, now)) return inMs(0);
  const subscription = await trx
    .selectFrom('subscriptions')
    .select(['enabled', 'paused_utc', 'conditions'])
    .where(isQueue({ company_id, subscription_id }))
    .executeTakeFirst();
  // If the subscription was deleted, the dispatcher that takes its queue drops the waiting deliveries.
  if (!subscription) return { state: 'cancelled', ...ended };
  if (replay.kind === 'drop') {
    const { count, more } = await discardHeldPage(trx, replay, now);
    const made = replay.made + count;
    return more ? { made, ...inMs(discardEveryMs) } : { made, state: 'done', ...ended };
  }
  if (replay.kind === 'resend' && replay.position < lastPosition) {
    const event = await readResent(trx, replay);
    if (!event) return { state: 'cancelled', ...ended };
    const { admitted } = await admit(trx, replay, [event], { quota, now });
    if (admitted.length === 0) return inMs(whileFullMs);
    // If the subscription was disabled meanwhile, the dispatcher that takes its queue holds the delivery.
    await addReplayed(trx, replay, [event], now);
    return { made: 1, position: lastPosition, ...inMs(whileEndingMs) };
  }
  if (subscription.enabled !== 1 || subscription.paused_utc !== null) return inMs(whileOffMs);
  if (replay.position === lastPosition) {
    const over = replay.succeeded + replay.failed >= replay.made;
    return over ? { state: 'done', ...ended } : inMs(whileEndingMs);
  }
  const room = maxDueInReplay - (await countDue(trx, replay, now));
  if (room <= 0) return inMs(whileFullMs);
  if (replay.kind === 'release') {
    const { count, more } = await releasePage(trx, replay, { limit: room, quota, now });
    const made = replay.made + count;
    if (!more) return { made, state: 'done', ...ended };
    return { made, ...inMs(count > 0 ? replayPageEveryMs : whileFullMs) };
  }
  const bounds = { after: replay.position, limit: room, maxMs: maxLookMs };
  const found = await findReplayCandidates(trx, replaySelectionOf(replay, subscription), bounds);
  const { admitted, refused } = await admit(trx, replay, found.candidates, { quota, now });
  await addReplayed(trx, replay, admitted, now);
  const made = replay.made + admitted.length;
  if (refused.length > 0)
    return { made, position: admitted.at(-1)?.position ?? replay.position, ...inMs(whileFullMs) };
  return { made, position: found.end ? lastPosition : found.position, ...inMs(replayPageEveryMs) };
};

/** Beyond every event: there is nothing left to make. */
const lastPosition = Number.MAX_SAFE_INTEGER;

const admit = async <Event extends ReplayedEvent>(
  trx: Trx<Tables>,
  { company_id, subscription_id }: ReplayRow,
  events: readonly Event[],
  { quota, now }: { readonly quota: number; readonly now: Date },
) => {
  const wanted = events.map((one) => ({ ...one, company_id, subscription_id }));
  return admitWaiting(trx, wanted, { quota, now, makesRoom: false });
};

const readResent = async (trx: Trx<Tables>, replay: ReplayRow): Promise<ReplayedEvent | undefined> => {
  const { eventId } = replay.filter as { readonly eventId: number };
  return trx
    .selectFrom('events')
    .select(['event_id', 'created_utc', 'type as event_type'])
    .where('company_id', '=', replay.company_id)
    .where('event_id', '=', eventId)
    .executeTakeFirst();
};

const countDue = async (
  trx: Trx<Tables>,
  { company_id, subscription_id }: ReplayRow,
  now: Date,
): Promise<number> => {
  const due = await trx
    .selectFrom('deliveries as d')
    .modifyFront(sql`/*+ INDEX(d by_state) */`)
    .select('event_id')
    .where(isQueue({ company_id, subscription_id }))
    .where('state', '=', 'waiting')
    .where('due_utc', '<=', now)
    .limit(maxDueInReplay)
    .execute();
  return due.length;
};

/**
 * Deliveries in progress are dropped too: their attempt is recorded, and no other follows.
 * @returns whether more may be left.
 */
const dropWaiting = async (
  trx: Trx<Tables>,
  { company_id, subscription_id, replay_id }: ReplayRow,
  now: Date,
): Promise<boolean> => {
  const { numUpdatedRows } = await trx
    .updateTable('deliveries')
    .set({ state: 'dropped', due_utc: null, updated_utc: now })
    .where(isQueue({ company_id, subscription_id }))
    .where('replay_id', '=', replay_id)
    .where('state', '=', 'waiting')
    .limit(dropChunk)
    .executeTakeFirst();
  return Number(numUpdatedRows) === dropChunk;
};

const dropChunk = 500;

/**
 * Releases the oldest first, as far as the quota has room. @returns how many, and whether there may be more.
 */
const releasePage = async (
  trx: Trx<Tables>,
  replay: ReplayRow,
  { limit, quota, now }: { readonly limit: number; readonly quota: number; readonly now: Date },
): Promise<{ readonly count: number; readonly more: boolean }> => {
  const found = await heldRows(trx, replay, limit).execute();
  // The company's row is locked before the deliveries.
  const { admitted, refused } = await admitWaiting(trx, found, { quota, now, makesRoom: false });
  const more = found.length === limit || refused.length > 0;
  if (admitted.length === 0) return { count: 0, more };
  const held = await heldRows(trx, replay, admitted.length).forUpdate().execute();
  if (held.length === 0) return { count: 0, more };
  await setState(trx, held, { state: 'waiting', due_utc: now, updated_utc: now });
  await addHeld(trx, replay, -held.length, now);
  await scheduleQueues(trx, [replay], now);
  return { count: held.length, more };
};

const discardHeldPage = async (
  trx: Trx<Tables>,
  replay: ReplayRow,
  now: Date,
): Promise<{ readonly count: number; readonly more: boolean }> => {
  const held = await heldRows(trx, replay, discardChunk).forUpdate().execute();
  if (held.length === 0) return { count: 0, more: false };
  await setState(trx, held, { state: 'dropped', due_utc: null, updated_utc: now });
  await addHeld(trx, replay, -held.length, now);
  await addToReplays(trx, replay.company_id, held, 'failed', 1);
  return { count: held.length, more: held.length === discardChunk };
};

const discardChunk = 1_000;

const heldRows = (trx: Trx<Tables>, { company_id, subscription_id }: ReplayRow, limit: number) =>
  trx
    .selectFrom('deliveries as d')
    .modifyFront(sql`/*+ INDEX(d by_state) */`)
    .select(['company_id', 'event_id', 'subscription_id', 'replay_id', 'created_utc'])
    .where(isQueue({ company_id, subscription_id }))
    .where('state', '=', 'held')
    .where('due_utc', 'is', null)
    .orderBy('event_id')
    .limit(limit);

type ReplayedEvent = Pick<DeliveryRow, 'event_id' | 'created_utc' | 'event_type'>;

/** Existing deliveries stay as they are. */
const addReplayed = async (
  trx: Trx<Tables>,
  { company_id, subscription_id, replay_id }: ReplayRow,
  events: readonly ReplayedEvent[],
  now: Date,
): Promise<void> => {
  if (events.length === 0) return;
  const rows = events.map(({ event_id, created_utc, event_type }) => ({
    company_id,
    event_id,
    subscription_id,
    replay_id,
    created_utc,
    event_type,
    state: 'waiting' as const,
    attempts: 0,
    due_utc: now,
    last_status: null,
    last_error: null,
    updated_utc: now,
  }));
  await trx
    .insertInto('deliveries')
    .values(rows)
    .onDuplicateKeyUpdate({ event_id: sql`deliveries.event_id` })
    .execute();
  await scheduleQueues(trx, [{ company_id, subscription_id }], now);
};
