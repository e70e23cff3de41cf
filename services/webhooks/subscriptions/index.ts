export { createSubscription } from './createSubscription.ts';
export { deleteSubscription } from './deleteSubscription.ts';
export { getSubscription } from './getSubscription.ts';
export { discardHeldDeliveries, releaseHeldDeliveries } from './heldDeliveries.ts';
export { listSubscriptions } from './listSubscriptions.ts';
export { rotateSubscriptionSecret } from './rotateSubscriptionSecret.ts';
export { testSubscription } from './testSubscription.ts';
export { updateSubscription } from './updateSubscription.ts';
