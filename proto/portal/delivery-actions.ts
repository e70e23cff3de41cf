import { z } from 'zod';
import { defineOperation, memberDefaults } from '../operation.ts';
import { delivery } from './deliveries.ts';
import { replay } from './replays.ts';

const actions = { ...memberDefaults, service: 'webhooks', role: 'developer', method: 'POST' } as const;

/** To the subscription’s current URL with its current secret. */
export const resendDelivery = defineOperation({
  ...actions,
  repeat: 'once',
  path: '/deliveries/{eventId}/{subscriptionId}/{replayId}/resend',
  answers: { 201: { schema: z.object({ replay, delivery }) } },
  errors: [409],
});

const acted = {
  answers: { 200: { schema: delivery } },
  errors: [409],
};

/** Later retries keep their delays. */
export const retryDelivery = defineOperation({
  ...actions,
  ...acted,
  path: '/deliveries/{eventId}/{subscriptionId}/{replayId}/retry',
});

export const cancelDelivery = defineOperation({
  ...actions,
  ...acted,
  path: '/deliveries/{eventId}/{subscriptionId}/{replayId}/cancel',
});

export const releaseDelivery = defineOperation({
  ...actions,
  ...acted,
  path: '/deliveries/{eventId}/{subscriptionId}/{replayId}/release',
});
