import { contract } from '@causeway/proto';
import { type Handler, json, portalHandler } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { verifiesEndpoints } from '../verification/verifies-endpoints.ts';

export const getSubscriptionSettings = ({ db }: WebhooksContext): Handler =>
  portalHandler(contract.getSubscriptionSettings, async ({ companyId }) =>
    json(200, { verifyEndpoints: await verifiesEndpoints(db, companyId) }),
  );
