import { hasRoomForWaiting, type ReplayRow, type SubscriptionRow } from '@causeway/deliveries';
import {
  byMember,
  conflict,
  contract,
  type DeliveryAction,
  type DeliveryActionAnswer,
  deliveryCommandSubject,
  type StoredEvent,
} from '@causeway/proto';
import { type Answer, handler, json, type OperationCall, type Trx } from '@causeway/runtime';
import { askDispatcher, askService } from '../ask.ts';
import type { WebhooksContext } from '../context.ts';
import {
  type DeliveryIds,
  type DeliveryRecord,
  deliveryAnswer,
  deliveryIdsOf,
  oneOf,
  readSiblings,
} from '../deliveries/record.ts';
import { readEvent } from '../events/read.ts';
import { lockSubscription } from '../subscriptions/record.ts';
import type { Tables } from '../tables.ts';
import { assertOn, beginReplay, readReplay, replayAnswer } from './begin.ts';

/** A dispatcher writes the delivery. The lock on the subscription makes concurrent resends take turns. */
export const resendDelivery = (context: WebhooksContext) =>
  handler(contract.resendDelivery, async (call) => {
    const { db, now, once, quotas } = context;
    const { companyId, identity } = call;
    const name = deliveryIdsOf(call.params);
    let resent: { readonly replayId: number; readonly answer: Answer } | undefined;
    const answer = await once.carryOut(identity, async (trx) => {
      const original = oneOf(await readSiblings(trx, companyId, name), name);
      if (original.url === null) throw conflict('the subscription was deleted');
      const subscription = await lockSubscription(trx, companyId, name.subscriptionId);
      assertOn(subscription);
      assertEnded(await readSiblings(trx, companyId, name));
      await assertNotResent(trx, companyId, name);
      const event = await readEvent(trx, companyId, name.eventId);
      if (!event) throw conflict('the event is kept no longer');
      if (!(await hasRoomForWaiting(trx, companyId, quotas.waitingDeliveries)))
        throw conflict(
          'the company has reached its quota of pending deliveries; resend it when fewer are pending',
        );
      const at = now();
      const filter = JSON.stringify({ eventId: name.eventId });
      const start = { by: byMember(call), now: at };
      const replay = await beginReplay(trx, subscription, { kind: 'resend', filter, total: 1 }, start);
      const replayId = replay.replay_id;
      resent = { replayId, answer: answerOf(replay, pendingDelivery(subscription, event, replayId, at)) };
      return resent.answer;
    });
    // Otherwise an earlier sending has resent it.
    if (resent?.answer !== answer) return answer;
    const { replayId } = resent;
    await askDispatcher(context, { companyId, replayId });
    const siblings = await readSiblings(db, companyId, name);
    const delivery = siblings.find(({ replay_id }) => replay_id === replayId);
    return delivery ? answerOf(await readReplay(db, companyId, replayId), delivery) : answer;
  });

const answerOf = (replay: ReplayRow, delivery: DeliveryRecord): Answer =>
  json(201, { replay: replayAnswer(replay), delivery: deliveryAnswer(delivery) });

const pendingDelivery = (
  { company_id, subscription_id, name, url, enabled }: SubscriptionRow,
  { event_id, created_utc, type }: StoredEvent,
  replay_id: number,
  now: Date,
): DeliveryRecord => ({
  company_id,
  event_id,
  subscription_id,
  replay_id,
  created_utc,
  event_type: type,
  state: 'waiting',
  attempts: 0,
  due_utc: now,
  last_status: null,
  last_error: null,
  updated_utc: now,
  name,
  url,
  enabled,
  next_probe_utc: null,
});

/** @throws Problem `conflict` if a delivery of the event to the subscription is already pending. */
const assertEnded = (siblings: readonly DeliveryRecord[]): void => {
  for (const { state, due_utc, attempts } of siblings) {
    if (state === 'waiting') throw onItsWay(attempts === 0 ? 'its first' : 'the next', due_utc);
    if (state === 'held') throw conflict('the delivery is held; release what is held instead');
  }
};

/** @throws Problem `conflict` if the event is resent already, and no dispatcher has written that delivery yet. */
const assertNotResent = async (
  trx: Trx<Tables>,
  companyId: number,
  { eventId, subscriptionId }: DeliveryIds,
): Promise<void> => {
  const begun = await trx
    .selectFrom('replays')
    .select(['filter', 'created_utc'])
    .where('company_id', '=', companyId)
    .where('subscription_id', '=', subscriptionId)
    .where('kind', '=', 'resend')
    .where('state', '=', 'running')
    .where('made', '=', 0)
    .execute();
  const other = begun.find(({ filter }) => (filter as { readonly eventId: number }).eventId === eventId);
  if (other) throw onItsWay('its first', other.created_utc);
};

const onItsWay = (which: 'its first' | 'the next', due: Date | null) =>
  conflict(
    `the event is on its way to the subscription already: ${which} attempt is due by ${due?.toISOString() ?? 'now'}`,
  );

/** A member's action on one delivery: a dispatcher carries it out, because the rows of deliveries are its own. */
const act = async (
  context: WebhooksContext,
  call: OperationCall<typeof contract.retryDelivery>,
  action: DeliveryAction['action'],
): Promise<Answer> => {
  const { companyId } = call;
  const delivery = deliveryIdsOf(call.params);
  oneOf(await readSiblings(context.db, companyId, delivery), delivery);
  const command: DeliveryAction = { companyId, action, delivery, by: byMember(call) };
  const { refused } = await askService<DeliveryActionAnswer>(
    context,
    deliveryCommandSubject,
    command,
    call.deadlineMs,
  );
  if (refused !== null) throw conflict(refused);
  const siblings = await readSiblings(context.db, companyId, delivery);
  return json(200, deliveryAnswer(oneOf(siblings, delivery)));
};

export const retryDelivery = (context: WebhooksContext) =>
  handler(contract.retryDelivery, (call) => act(context, call, 'retry'));
export const cancelDelivery = (context: WebhooksContext) =>
  handler(contract.cancelDelivery, (call) => act(context, call, 'cancel'));
export const releaseDelivery = (context: WebhooksContext) =>
  handler(contract.releaseDelivery, (call) => act(context, call, 'release'));
