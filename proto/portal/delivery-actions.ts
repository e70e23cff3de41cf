import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { delivery, deliveryExample, deliveryMissing, oneDelivery } from './deliveries.ts';
import { replay, replayExample } from './replays.ts';

const actions = {
  service: 'webhooks',
  role: 'developer',
  deadlineMs: 5000,
  method: 'POST',
  params: oneDelivery,
  query: null,
  body: null,
} as const;

export const resendDelivery = defineOperation({
  audience: 'member',
  ...actions,
  id: 'resendDelivery',
  repeat: 'once',
  path: '/deliveries/{eventId}/{subscriptionId}/{replayId}/resend',
  summary: 'Deliver an event again, to the subscription’s current URL with its current secret',
  answers: {
    201: {
      description: 'A replay of one delivery, and the delivery it created.',
      schema: z.object({ replay, delivery }),
      example: {
        replay: { ...replayExample, kind: 'resend', total: 1, made: 1, succeeded: 0, failed: 0 },
        delivery: { ...deliveryExample, id: '90071-42-7', replayId: 7, attempts: 0 },
      },
    },
  },
  errors: {
    404: deliveryMissing,
    409: {
      description: 'The subscription is disabled, or a delivery of the event is already waiting.',
      example: { error: 'the subscription is disabled; enable it first', reason: 'conflict' },
    },
  },
});

const acted = {
  answers: { 200: { description: 'The delivery.', schema: delivery, example: deliveryExample } },
  errors: {
    404: deliveryMissing,
    409: {
      description:
        'The delivery is in another state, an attempt is under way, or the subscription is disabled.',
      example: { error: 'an attempt is under way or about to start', reason: 'conflict' },
    },
  },
};

export const retryDelivery = defineOperation({
  audience: 'member',
  ...actions,
  ...acted,
  id: 'retryDelivery',
  path: '/deliveries/{eventId}/{subscriptionId}/{replayId}/retry',
  summary: 'Make the next attempt of a pending delivery now; later retries keep their delays',
});

export const cancelDelivery = defineOperation({
  audience: 'member',
  ...actions,
  ...acted,
  id: 'cancelDelivery',
  path: '/deliveries/{eventId}/{subscriptionId}/{replayId}/cancel',
  summary: 'Discard a pending or held delivery; it can be resent',
});

export const releaseDelivery = defineOperation({
  audience: 'member',
  ...actions,
  ...acted,
  id: 'releaseDelivery',
  path: '/deliveries/{eventId}/{subscriptionId}/{replayId}/release',
  summary: 'Make a held delivery pending again',
});
