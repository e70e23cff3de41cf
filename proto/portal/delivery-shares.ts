import { z } from 'zod';
import { defineOperation, memberDefaults } from '../operation.ts';
import { credentialBodyBytes } from '../portal.ts';
import { id, instant } from '../schemas/values.ts';
import { getAttempt, getDelivery } from './deliveries.ts';

const shares = { ...memberDefaults, service: 'webhooks', role: 'developer' } as const;

/** Links of a company that work. */
export const maxDeliveryShares = 200;

const share = z.object({
  id,
  deliveryId: z.string(),
  createdBy: z.string(),
  createdUtc: instant,
  expiresUtc: instant,
  opened: z.int().min(0),
  lastOpenedUtc: instant.nullable(),
});

/** A link to one delivery, masked as for viewers, for people without a session: the receiver’s support. */
export const shareDelivery = defineOperation({
  ...shares,
  method: 'POST',
  repeat: 'once',
  path: '/deliveries/{eventId}/{subscriptionId}/{replayId}/shares',
  body: z.strictObject({
    hours: z.int().min(1).max(168).meta({ description: 'How long the link works: an hour to seven days.' }),
  }),
  answers: {
    201: {
      schema: share.extend({
        token: z.string().meta({ description: 'Shown once; only its hash is stored.' }),
      }),
    },
  },
  errors: [409],
});

/** The links that work, the newest first. */
export const listDeliveryShares = defineOperation({
  ...shares,
  method: 'GET',
  path: '/delivery-shares',
  answers: { 200: { schema: z.object({ shares: z.array(share).max(maxDeliveryShares) }) } },
});

export const revokeDeliveryShare = defineOperation({
  ...shares,
  method: 'DELETE',
  path: '/delivery-shares/{id}',
  answers: { 204: { schema: null } },
});

/** Without a session: the token is the only proof, and opens nothing but its delivery. */
export const getSharedDelivery = defineOperation({
  ...shares,
  method: 'POST',
  path: '/shared-delivery',
  role: null,
  repeat: 'harmless',
  maxBodyBytes: credentialBodyBytes,
  body: z.strictObject({
    token: z.string().max(100),
    attempt: id.optional().meta({ description: 'The last one, if absent.' }),
  }),
  answers: {
    200: {
      schema: z.object({
        expiresUtc: instant,
        delivery: getDelivery.answers[200].schema.omit({ others: true, wait: true }),
        attempt: getAttempt.answers[200].schema.nullable(),
      }),
    },
  },
  errors: [404],
});
