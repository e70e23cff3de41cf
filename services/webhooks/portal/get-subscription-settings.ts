import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { verifiesEndpoints } from '../verification/verifies-endpoints.ts';

export const getSubscriptionSettings = ({ db }: WebhooksContext) =>
  handler(contract.getSubscriptionSettings, async ({ companyId }) =>
    json(200, { verifyEndpoints: await verifiesEndpoints(db, companyId) }),
  );
