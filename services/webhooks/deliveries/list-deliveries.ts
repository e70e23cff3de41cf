import { contract } from '@causeway/proto';
import { type Handler, json, portalHandler } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { openPlace, readPage, sealPlace } from './read-page.ts';
import { deliveryAnswer } from './record.ts';

export const listDeliveries = ({ db }: WebhooksContext): Handler =>
  portalHandler(contract.listDeliveries, async ({ companyId, query }) => {
    const { limit, cursor, ...filter } = query;
    const from = cursor === undefined ? undefined : openPlace(cursor);
    const { deliveries, next } = await readPage(db, companyId, { filter, limit, from });
    return json(200, {
      deliveries: deliveries.map(deliveryAnswer),
      nextCursor: next ? sealPlace(next) : null,
      hasMore: next !== null,
    });
  });
