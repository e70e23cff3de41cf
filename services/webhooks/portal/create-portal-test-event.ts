import { byMember, contract } from '@causeway/proto';
import { handler } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { makeTestEvent } from '../events/create-test-event.ts';
import { writeAudit } from '../write-audit.ts';

export const createPortalTestEvent = (context: WebhooksContext) =>
  handler(contract.createPortalTestEvent, async (call) => {
    const { companyId, body, identity } = call;
    const { eventId, answer } = await makeTestEvent(context, call);
    return context.once.carryOut(identity, async (trx) => {
      await writeAudit(trx, {
        companyId,
        by: byMember(call),
        action: 'event.test_created',
        target: { kind: 'event', id: eventId, name: body.type },
        after: { type: body.type, ownPayload: body.payload !== undefined },
        at: context.now(),
      });
      return answer;
    });
  });
