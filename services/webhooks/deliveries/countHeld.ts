import { portalContract } from '@causeway/proto';
import { type Handler, json, portalHandler } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import type { WebhooksContext } from '../context.ts';
import { replayAnswer, selectReplays } from '../replays/record.ts';
import { readSubscription } from '../subscriptions/record.ts';
import type { Tables } from '../tables.ts';

export const countHeld = ({ db }: WebhooksContext): Handler =>
  portalHandler(portalContract.countHeld, async (call) => {
    const { companyId } = call;
    const { subscription_id } = await readSubscription(db, companyId, call.id('subscription'));
    const running = await selectReplays(db, companyId)
      .where('subscription_id', '=', subscription_id)
      .where('state', '=', 'running')
      .where('kind', 'in', ['release', 'drop'])
      .limit(1)
      .executeTakeFirst();
    const held = await heldOf(db, companyId, subscription_id);
    return json(200, { held, replay: running ? replayAnswer(running) : null });
  });

/** How many of a subscription's deliveries are held. */
export const heldOf = async (
  db: Kysely<Tables>,
  companyId: number,
  subscriptionId: number,
): Promise<number> => {
  const { held } = await db
    .selectFrom('deliveries')
    .select(({ fn }) => fn.countAll<number>().as('held'))
    .where('company_id', '=', companyId)
    .where('subscription_id', '=', subscriptionId)
    .where('state', '=', 'held')
    .executeTakeFirstOrThrow();
  return held;
};
