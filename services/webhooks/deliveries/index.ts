export { countHeld } from './countHeld.ts';
export { dropHeld } from './dropHeld.ts';
export { getAttempt } from './getAttempt.ts';
export { getDelivery } from './getDelivery.ts';
export { getDeliveryStats } from './getDeliveryStats.ts';
export { listDeliveries } from './listDeliveries.ts';
export { releaseHeld } from './releaseHeld.ts';
export { resendDelivery } from './resendDelivery.ts';
