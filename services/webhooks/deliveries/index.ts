export { cancelDelivery, releaseDelivery, retryDelivery } from './act-on-delivery.ts';
export { countHeld } from './count-held.ts';
export { discardHeld } from './discard-held.ts';
export { getAttempt } from './get-attempt.ts';
export { getDelivery } from './get-delivery.ts';
export { getDeliveryStats } from './get-delivery-stats.ts';
export { listDeliveries } from './list-deliveries.ts';
export { releaseHeld } from './release-held.ts';
export { resendDelivery } from './resend-delivery.ts';
