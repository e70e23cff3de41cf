import type { HandlerTable } from '@causeway/runtime';
import type { WebhooksContext } from './context.ts';
import * as causes from './deliveries/causes.ts';
import * as countDeliveries from './deliveries/count.ts';
import * as getDeliveries from './deliveries/get.ts';
import * as listDeliveries from './deliveries/list.ts';
import * as shares from './deliveries/shares.ts';
import * as deliveryStats from './delivery-stats.ts';
import * as createEvents from './events/create.ts';
import * as readEvents from './events/read.ts';
import * as made from './members/made.ts';
import * as channels from './notices/channels.ts';
import * as releaseHeld from './replays/release-held.ts';
import * as replays from './replays/replays.ts';
import * as resend from './replays/resend.ts';
import * as reencrypt from './secrets/reencrypt.ts';
import * as status from './status/status.ts';
import * as top from './status/top.ts';
import * as closed from './subscriptions/closed.ts';
import { exportSubscriptions } from './subscriptions/export.ts';
import * as incidents from './subscriptions/incidents.ts';
import * as missed from './subscriptions/missed.ts';
import * as missing from './subscriptions/missing.ts';
import * as readSubscriptions from './subscriptions/read.ts';
import * as rules from './subscriptions/rules.ts';
import * as secrets from './subscriptions/secrets.ts';
import * as testSubscriptions from './subscriptions/test-delivery.ts';
import * as update from './subscriptions/update.ts';
import * as verification from './subscriptions/verification.ts';
import * as writeSubscriptions from './subscriptions/write.ts';

/** The handlers are exported under their operations' names, so a missing one is a type error. */
export const handlers: HandlerTable<'webhooks', WebhooksContext> = {
  ...causes,
  ...countDeliveries,
  ...getDeliveries,
  ...listDeliveries,
  ...shares,
  ...deliveryStats,
  ...createEvents,
  ...readEvents,
  ...channels,
  listMemberWork: made.listMemberWork,
  exportSubscriptions,
  ...releaseHeld,
  ...replays,
  ...resend,
  ...reencrypt,
  ...status,
  ...top,
  switchSubscriptions: closed.switchSubscriptions,
  ...incidents,
  ...missed,
  ...missing,
  ...readSubscriptions,
  ...rules,
  ...secrets,
  ...testSubscriptions,
  ...update,
  ...verification,
  ...writeSubscriptions,
};
