import { contract, encodeEnvelope, notFound } from '@causeway/proto';
import { handler } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readEvent } from './read-event.ts';

export const getEvent = ({ db }: WebhooksContext) =>
  handler(contract.getEvent, async (call) => {
    const { companyId } = call;
    const event = await readEvent(db, companyId, call.id('event'));
    if (!event) throw notFound('event');
    return { status: 200, body: encodeEnvelope(event) };
  });
