import { conflict, contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { replayAnswer } from '../replays/record.ts';
import { throughPortal } from '../subscriptions/editor.ts';
import { startHeldReplay } from './start-held-replay.ts';

export const releaseHeld = (context: WebhooksContext) =>
  handler(contract.releaseHeld, async (call) => {
    const { companyId } = call;
    const id = call.id('subscription');
    const replay = await startHeldReplay(context, throughPortal(call), {
      companyId,
      id,
      kind: 'release',
      refuse: conflict,
    });
    if (!replay) throw conflict('nothing is held');
    return json(201, replayAnswer(replay));
  });
