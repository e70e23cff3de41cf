import { contract } from '@causeway/proto';
import { auditSource, type Handler, portalHandler, writeAudit } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { makeTestEvent } from '../events/create-test-event.ts';

export const createPortalTestEvent = (context: WebhooksContext): Handler =>
  portalHandler(contract.createPortalTestEvent, async (call) => {
    const { companyId, body, deadlineMs } = call;
    const { eventId, answer } = await makeTestEvent(context, companyId, body, deadlineMs);
    await writeAudit(context.db, {
      companyId,
      by: auditSource(call),
      action: 'event.test_created',
      target: { kind: 'event', id: eventId, name: body.type },
      after: { type: body.type, ownPayload: body.payload !== undefined },
      at: context.now(),
    });
    return answer;
  });
