import type { HandlerTable } from '@causeway/runtime';
import type { WebhooksContext } from './context.ts';
import { acknowledgeFailureCause, listFailureCauses } from './deliveries/causes.ts';
import { countDeliveries } from './deliveries/count.ts';
import { getAttempt, getDelivery } from './deliveries/get.ts';
import { listDeliveries } from './deliveries/list.ts';
import {
  getSharedDelivery,
  listDeliveryShares,
  revokeDeliveryShare,
  shareDelivery,
} from './deliveries/shares.ts';
import { getDeliveryStats } from './delivery-stats.ts';
import { createPortalTestEvent, createTestEvent } from './events/create.ts';
import { getEvent, getPortalEvent, listEvents, listPortalEvents, listSampleEvents } from './events/read.ts';
import { getNoticeChannels, testNoticeChannel, updateNoticeChannel } from './notices/channels.ts';
import { countHeld, discardHeldDeliveries, releaseHeldDeliveries } from './replays/held.ts';
import { cancelReplay, createReplay, getReplay, listReplays, previewReplay } from './replays/replays.ts';
import { cancelDelivery, releaseDelivery, resendDelivery, retryDelivery } from './replays/resend.ts';
import { reencryptSecrets } from './secrets/reencrypt.ts';
import { getAttention, getCompanyStatus, getFirstDeliverySteps } from './status/status.ts';
import { subscribeAgent, unsubscribeAgent } from './subscriptions/agents.ts';
import { listSubscriptionDeliveries } from './subscriptions/deliveries.ts';
import { dismissMissedEvents } from './subscriptions/missed.ts';
import { listMissingEvents } from './subscriptions/missing.ts';
import { getSubscription, listSubscriptions } from './subscriptions/read.ts';
import { previewConditions } from './subscriptions/rules.ts';
import { rotateSubscriptionSecret } from './subscriptions/secrets.ts';
import { testSubscription } from './subscriptions/test.ts';
import {
  disablePortalSubscription,
  enablePortalSubscription,
  updateSubscription,
} from './subscriptions/update.ts';
import { getSubscriptionSettings, updateSubscriptionSettings } from './subscriptions/verification.ts';
import { checkSubscriptionUrl, createSubscription, deleteSubscription } from './subscriptions/write.ts';

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
  listSubscriptionDeliveries,
  subscribeAgent,
  unsubscribeAgent,
  listMissingEvents,
  createTestEvent,
  getEvent,
  listEvents,
  listSampleEvents,
  cancelDelivery,
  releaseDelivery,
  retryDelivery,
  countHeld,
  countDeliveries,
  shareDelivery,
  listDeliveryShares,
  revokeDeliveryShare,
  getSharedDelivery,
  listFailureCauses,
  acknowledgeFailureCause,
  getAttempt,
  getDelivery,
  getDeliveryStats,
  listDeliveries,
  resendDelivery,
  cancelReplay,
  createReplay,
  getReplay,
  listReplays,
  previewReplay,
  checkSubscriptionUrl,
  previewConditions,
  createPortalTestEvent,
  disablePortalSubscription,
  dismissMissedEvents,
  enablePortalSubscription,
  getAttention,
  getFirstDeliverySteps,
  getPortalEvent,
  getSubscriptionSettings,
  listPortalEvents,
  updateSubscriptionSettings,
  getNoticeChannels,
  testNoticeChannel,
  updateNoticeChannel,
  reencryptSecrets,
  getCompanyStatus,
};
