import { byMember, conflict, contract } from '@causeway/proto';
import { handler, json, transaction } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { lockSubscription, readSubscription } from '../subscriptions/record.ts';
import { assertNoOther, assertOn, beginReplay } from './begin.ts';
import { countCandidates } from './candidates.ts';
import { replayAnswer } from './record.ts';
import { filterOf, selectionOf } from './selection.ts';

export const createReplay = ({ db, now }: WebhooksContext) =>
  handler(contract.createReplay, async (call) => {
    const { companyId, body } = call;
    const { event_types } = await readSubscription(db, companyId, body.subscriptionId);
    const at = now();
    const selection = selectionOf(companyId, body, event_types, at);
    const total = await countCandidates(db, selection);
    if (total === 0) throw conflict('there is nothing to replay');
    const replay = await transaction(db, async (trx) => {
      const subscription = await lockSubscription(trx, companyId, body.subscriptionId);
      assertOn(subscription);
      await assertNoOther(trx, subscription, body.kind);
      const begun = { kind: body.kind, filter: filterOf(selection), total };
      return beginReplay(trx, subscription, begun, { by: byMember(call), now: at });
    });
    return json(201, replayAnswer(replay));
  });
