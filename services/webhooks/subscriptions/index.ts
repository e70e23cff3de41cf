export { createSubscription } from './create-subscription.ts';
export { deleteSubscription } from './delete-subscription.ts';
export { getSubscription } from './get-subscription.ts';
export { discardHeldDeliveries, releaseHeldDeliveries } from './held-deliveries.ts';
export { listSubscriptions } from './list-subscriptions.ts';
export { rotateSubscriptionSecret } from './rotate-subscription-secret.ts';
export { testSubscription } from './test-subscription.ts';
export { updateSubscription } from './update-subscription.ts';
