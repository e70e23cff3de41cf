import { contract, notFound } from '@causeway/proto';
import { handler } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readEvent } from '../events/read-event.ts';
import { shownEnvelope } from './event.ts';

export const getPortalEvent = ({ db }: WebhooksContext) =>
  handler(contract.getPortalEvent, async (call) => {
    const event = await readEvent(db, call.companyId, call.id('event'));
    if (!event) throw notFound('event');
    return { status: 200, body: shownEnvelope(event, call.user.role) };
  });
