import {
  byMember,
  conflict,
  contract,
  type DeliveryAction,
  type DeliveryActionAnswer,
  deliveryCommandSubject,
  problem,
} from '@causeway/proto';
import { type Answer, handler, json, type OperationCall } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { deliveryAnswer, deliveryIdsOf, oneOf, readSiblings } from './record.ts';

/** A member's action on one delivery: a dispatcher carries it out, because the rows of deliveries are its own. */
const act = async (
  context: WebhooksContext,
  call: OperationCall<typeof contract.retryDelivery>,
  action: DeliveryAction['action'],
): Promise<Answer> => {
  const { companyId } = call;
  const delivery = deliveryIdsOf(call.params);
  oneOf(await readSiblings(context.db, companyId, delivery), delivery);
  const refused = await ask(context, { companyId, action, delivery, by: byMember(call) });
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

const ask = async ({ bus, log }: WebhooksContext, asked: DeliveryAction): Promise<string | null> => {
  try {
    const answer = await bus.nc.request(deliveryCommandSubject, JSON.stringify(asked), {
      timeout: timeoutMs,
    });
    return answer.json<DeliveryActionAnswer>().refused;
  } catch (error) {
    log.warn({ error, companyId: asked.companyId, ...asked.delivery }, 'no dispatcher acted on the delivery');
    throw problem('service_unavailable', error);
  }
};

const timeoutMs = 3_000;
