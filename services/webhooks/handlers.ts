import type { HandlerTable } from '@causeway/runtime';
import type { WebhooksContext } from './context.ts';
import * as deliveries from './deliveries/index.ts';
import * as events from './events/index.ts';
import * as portal from './portal/index.ts';
import * as replays from './replays/index.ts';
import { reencryptSecrets } from './secrets/reencrypt-secrets.ts';
import { getCompanyStatus } from './status/get-company-status.ts';
import * as subscriptions from './subscriptions/index.ts';

/** The handler of each operation that this service answers. */
export const handlers: HandlerTable<'webhooks', WebhooksContext> = {
  ...subscriptions,
  ...events,
  ...deliveries,
  ...replays,
  ...portal,
  reencryptSecrets,
  getCompanyStatus,
};
