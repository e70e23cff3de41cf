import { byMember, conflict, contract } from '@causeway/proto';
import { admitWaiting, handler, json, transaction } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readEvent } from '../events/read-event.ts';
import { assertOn, beginReplay } from '../replays/begin.ts';
import { replayAnswer } from '../replays/record.ts';
import { lockSubscription } from '../subscriptions/record.ts';
import { addDeliveries } from './add-deliveries.ts';
import { makeQueuesDue } from './make-queues-due.ts';
import { type DeliveryRecord, deliveryAnswer, deliveryIdsOf, oneOf, readSiblings } from './record.ts';

/** Replays one delivery at once. The lock on the subscription's row makes concurrent resends take turns. */
export const resendDelivery = ({ db, now, quotas }: WebhooksContext) =>
  handler(contract.resendDelivery, async (call) => {
    const { companyId } = call;
    const name = deliveryIdsOf(call.params);
    const made = await transaction(db, async (trx) => {
      const original = oneOf(await readSiblings(trx, companyId, name), name);
      if (original.url === null) throw conflict('the subscription was deleted');
      const subscription = await lockSubscription(trx, companyId, name.subscriptionId);
      assertOn(subscription);
      assertEnded(await readSiblings(trx, companyId, name));
      const event = await readEvent(trx, companyId, name.eventId);
      if (!event) throw conflict('the event is kept no longer');
      const at = now();
      const filter = JSON.stringify({ eventId: name.eventId });
      const newReplay = { kind: 'resend', filter, total: 1, made: 1 } as const;
      const replay = await beginReplay(trx, subscription, newReplay, { by: byMember(call), now: at });
      const { company_id, subscription_id } = subscription;
      const delivery = {
        company_id,
        subscription_id,
        event_id: event.event_id,
        replay_id: replay.replay_id,
        created_utc: event.created_utc,
        event_type: event.type,
        due_utc: at,
      };
      const { refused } = await admitWaiting(trx, [delivery], {
        quota: quotas.waitingDeliveries,
        now: at,
        makesRoom: false,
      });
      if (refused.length > 0)
        throw conflict(
          'the company has reached its quota of pending deliveries; resend it when fewer are pending',
        );
      await addDeliveries(trx, [delivery], at);
      await makeQueuesDue(trx, [{ company_id, subscription_id, due_utc: at }]);
      const resent = { ...name, replayId: replay.replay_id };
      return { replay, delivery: oneOf(await readSiblings(trx, companyId, resent), resent) };
    });
    return json(201, { replay: replayAnswer(made.replay), delivery: deliveryAnswer(made.delivery) });
  });

/** @throws Problem `conflict` if a delivery of the event to the subscription is already pending. */
const assertEnded = (siblings: readonly DeliveryRecord[]): void => {
  for (const { state, due_utc, attempts } of siblings) {
    if (state === 'waiting')
      throw conflict(
        `the event is on its way to the subscription already: ${attempts === 0 ? 'its first' : 'the next'} attempt is due by ${due_utc?.toISOString() ?? 'now'}`,
      );
    if (state === 'held') throw conflict('the delivery is held; release what is held instead');
  }
};
