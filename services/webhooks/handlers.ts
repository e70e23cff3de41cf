import type { HandlerTable } from '@causeway/runtime';
import type { WebhooksContext } from './context.ts';
import { getAttempt, getDelivery } from './deliveries/get.ts';
import {
  countHeld,
  discardHeld,
  discardHeldDeliveries,
  releaseHeld,
  releaseHeldDeliveries,
} from './deliveries/held.ts';
import { listDeliveries } from './deliveries/list.ts';
import { cancelDelivery, releaseDelivery, resendDelivery, retryDelivery } from './deliveries/resend.ts';
import { getDeliveryStats } from './deliveries/stats.ts';
import { createPortalTestEvent, createTestEvent } from './events/create.ts';
import { getEvent, getPortalEvent, listEvents, listPortalEvents } from './events/read.ts';
import { dismissMissedEvents } from './replays/missed.ts';
import { cancelReplay, createReplay, getReplay, listReplays, previewReplay } from './replays/replays.ts';
import { reencryptSecrets } from './secrets/reencrypt.ts';
import { getAttention, getCompanyStatus, getFirstDeliverySteps } from './status/status.ts';
import {
  getPortalSubscription,
  getSubscription,
  listPortalSubscriptions,
  listSubscriptions,
} from './subscriptions/read.ts';
import { rotatePortalSubscriptionSecret, rotateSubscriptionSecret } from './subscriptions/secrets.ts';
import { testPortalSubscription, testSubscription } from './subscriptions/test.ts';
import {
  disablePortalSubscription,
  enablePortalSubscription,
  updatePortalSubscription,
  updateSubscription,
} from './subscriptions/update.ts';
import { getSubscriptionSettings, updateSubscriptionSettings } from './subscriptions/verification.ts';
import {
  checkSubscriptionUrl,
  createPortalSubscription,
  createSubscription,
  deletePortalSubscription,
  deleteSubscription,
} from './subscriptions/write.ts';

/** The handler of each operation that this service answers. */
export const handlers: HandlerTable<'webhooks', WebhooksContext> = {
  createSubscription,
  deleteSubscription,
  getSubscription,
  discardHeldDeliveries,
  releaseHeldDeliveries,
  listSubscriptions,
  rotateSubscriptionSecret,
  testSubscription,
  updateSubscription,
  createTestEvent,
  getEvent,
  listEvents,
  cancelDelivery,
  releaseDelivery,
  retryDelivery,
  countHeld,
  discardHeld,
  getAttempt,
  getDelivery,
  getDeliveryStats,
  listDeliveries,
  releaseHeld,
  resendDelivery,
  cancelReplay,
  createReplay,
  getReplay,
  listReplays,
  previewReplay,
  checkSubscriptionUrl,
  createPortalSubscription,
  createPortalTestEvent,
  deletePortalSubscription,
  disablePortalSubscription,
  dismissMissedEvents,
  enablePortalSubscription,
  getAttention,
  getFirstDeliverySteps,
  getPortalEvent,
  getPortalSubscription,
  getSubscriptionSettings,
  listPortalEvents,
  listPortalSubscriptions,
  rotatePortalSubscriptionSecret,
  testPortalSubscription,
  updatePortalSubscription,
  updateSubscriptionSettings,
  reencryptSecrets,
  getCompanyStatus,
};
