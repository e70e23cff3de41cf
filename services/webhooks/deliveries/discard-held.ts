import { conflict, contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { replayAnswer } from '../replays/record.ts';
import { throughPortal } from '../subscriptions/editor.ts';
import { startHeldReplay } from './start-held-replay.ts';

export const discardHeld = (context: WebhooksContext) =>
  handler(contract.discardHeld, async (call) => {
    const { companyId, identity } = call;
    const wanted = {
      companyId,
      id: call.id('subscription'),
      identity,
      kind: 'drop',
      refuse: conflict,
    } as const;
    return startHeldReplay(context, throughPortal(call), wanted, (replay) => {
      if (!replay) throw conflict('nothing is held');
      return json(201, replayAnswer(replay));
    });
  });
