import { contract, encodeEnvelope, notFound, parseCall, parseId } from '@causeway/proto';
import { each, type Handler } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readEvent } from './read-event.ts';

export const getEvent = ({ db }: WebhooksContext): Handler =>
  each(async (call) => {
    parseCall(contract.getEvent, call);
    const event = await readEvent(db, call.tenant, parseId(call.params[0], 'event'));
    if (!event) throw notFound('event');
    return { status: 200, body: encodeEnvelope(event) };
  });
