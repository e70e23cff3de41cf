import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { deliveryAnswer, deliveryIdsOf, oneOf, readSiblings } from './record.ts';

export const getDelivery = ({ db }: WebhooksContext) =>
  handler(contract.getDelivery, async ({ companyId, params }) => {
    const name = deliveryIdsOf(params);
    const siblings = await readSiblings(db, companyId, name);
    const delivery = oneOf(siblings, name);
    const attempts = await db
      .selectFrom('delivery_attempts')
      .select(['attempt', 'started_utc', 'elapsed_ms', 'status_code', 'error_class', 'error'])
      .select('next_attempt_utc')
      .where('company_id', '=', companyId)
      .where('event_id', '=', name.eventId)
      .where('subscription_id', '=', name.subscriptionId)
      .where('replay_id', '=', name.replayId)
      .where('created_utc', '=', delivery.created_utc)
      .orderBy('attempt')
      .execute();
    return json(200, {
      ...deliveryAnswer(delivery),
      history: attempts.map((one) => ({
        attempt: one.attempt,
        startedUtc: one.started_utc,
        elapsedMs: one.elapsed_ms,
        statusCode: one.status_code,
        errorClass: one.error_class,
        error: one.error,
        nextAttemptUtc: one.next_attempt_utc,
      })),
      others: siblings.filter((one) => one !== delivery).map(deliveryAnswer),
    });
  });
