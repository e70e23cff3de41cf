import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { replayAnswer, selectReplays } from '../replays/record.ts';
import { readSubscription } from '../subscriptions/record.ts';

export const countHeld = ({ db }: WebhooksContext) =>
  handler(contract.countHeld, async (call) => {
    const { companyId } = call;
    const subscription = await readSubscription(db, companyId, call.id('subscription'));
    const running = await selectReplays(db, companyId)
      .where('subscription_id', '=', subscription.subscription_id)
      .where('state', '=', 'running')
      .where('kind', 'in', ['release', 'drop'])
      .limit(1)
      .executeTakeFirst();
    return json(200, { held: subscription.held_deliveries, replay: running ? replayAnswer(running) : null });
  });
