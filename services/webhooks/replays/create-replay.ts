import { byMember, conflict, contract } from '@causeway/proto';
import { handler, json, replayFilterOf } from '@causeway/runtime';
import { askDispatcher } from '../ask-dispatcher.ts';
import type { WebhooksContext } from '../context.ts';
import { lockSubscription, readSubscription } from '../subscriptions/record.ts';
import { assertNoOther, assertOn, beginReplay } from './begin.ts';
import { countCandidates } from './count-candidates.ts';
import { resetMissed } from './missed.ts';
import { replayAnswer } from './record.ts';
import { selectionOf } from './selection.ts';

export const createReplay = (context: WebhooksContext) =>
  handler(contract.createReplay, async (call) => {
    const { db, now, once } = context;
    const { companyId, body, identity } = call;
    const earlier = await once.find(identity);
    if (earlier) return earlier;
    const { event_types } = await readSubscription(db, companyId, body.subscriptionId);
    const select = (at: Date) => selectionOf(companyId, body, event_types, at);
    const selection = select(now());
    const coversMissed = body.kind === 'missed' && body.types === undefined;
    const total = await countCandidates(db, selection);
    if (total === 0) {
      // Their events were delivered otherwise, or have left the event log.
      if (coversMissed) await resetMissed(db, selection);
      throw conflict('there is nothing to replay');
    }
    return once.carryOut(identity, async (trx) => {
      const subscription = await lockSubscription(trx, companyId, body.subscriptionId);
      assertOn(subscription);
      await assertNoOther(trx, subscription, body.kind);
      if (coversMissed) await resetMissed(trx, selection);
      // After the reset: the replay makes all events whose count it has reset.
      const at = now();
      const newReplay = { kind: body.kind, filter: replayFilterOf(select(at)), total };
      const replay = await beginReplay(trx, subscription, newReplay, { by: byMember(call), now: at });
      trx.onCommit(() => askDispatcher(context, { companyId, replayId: replay.replay_id }));
      return json(201, replayAnswer(replay));
    });
  });
