import { contract, invalidField } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { replayAnswer, selectReplays } from './record.ts';

export const listReplays = ({ db }: WebhooksContext) =>
  handler(contract.listReplays, async ({ companyId, query }) => {
    const { limit, cursor, subscriptionId } = query;
    let replays = selectReplays(db, companyId).limit(limit + 1);
    if (subscriptionId !== undefined) replays = replays.where('subscription_id', '=', subscriptionId);
    if (cursor !== undefined) replays = replays.where('replay_id', '<', placeOf(cursor));
    const rows = await replays.execute();
    const shown = rows.slice(0, limit);
    const hasMore = rows.length > limit;
    const last = shown.at(-1);
    return json(200, {
      replays: shown.map(replayAnswer),
      nextCursor: hasMore && last ? String(last.replay_id) : null,
      hasMore,
    });
  });

/** @throws Problem `invalid_request` */
const placeOf = (cursor: string): number => {
  if (!/^[1-9]\d{0,14}$/.test(cursor)) throw invalidField('cursor', 'invalid cursor');
  return Number(cursor);
};
