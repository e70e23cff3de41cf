import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { type Place, readPage } from './read-page.ts';
import { readSummaries } from './read-summaries.ts';
import { deliveryAnswer } from './record.ts';

export const listDeliveries = ({ db, cursors }: WebhooksContext) =>
  handler(contract.listDeliveries, async ({ companyId, user, query }) => {
    const { limit, cursor, ...filter } = query;
    const from =
      cursor === undefined ? undefined : placeOf(await cursors.open(companyId, 'deliveries', cursor));
    const { deliveries, next } = await readPage(db, companyId, { filter, limit, from });
    const eventIds = deliveries.map(({ event_id }) => event_id);
    const summaries = await readSummaries(db, companyId, eventIds, user.role);
    return json(200, {
      deliveries: deliveries.map((one) => ({
        ...deliveryAnswer(one),
        summary: summaries.get(one.event_id) ?? '',
      })),
      nextCursor: next ? await cursors.seal(companyId, 'deliveries', ...positionsOf(next)) : null,
      hasMore: next !== null,
    });
  });

const positionsOf = ({ event_id, subscription_id, replay_id }: Place) => [
  event_id,
  subscription_id,
  replay_id,
];
const placeOf = ([event_id = 0, subscription_id = 0, replay_id = 0]: readonly number[]): Place => ({
  event_id,
  subscription_id,
  replay_id,
});
