import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { fieldName, instant, valueRule } from '../schemas/values.ts';
import { knownEventType, targetUrl } from '../schemas/webhooks.ts';

/**
 * What `events/subscribe` and `events/unsubscribe` of an agent do (contract, "Agents"). Only the gateway's tools for agents
 * reach these operations; they are in neither the OpenAPI document nor the list of tools.
 */
const agents = {
  service: 'webhooks',
  audience: 'key',
  isForAgents: true,
  method: 'POST',
  scope: 'webhooks:write',
  query: null,
  errorShape: 'general',
  tag: 'Webhook subscriptions',
  params: {},
  errors: {},
} as const;

/** With the API key, what makes two subscriptions the same. */
const identity = { name: knownEventType, url: targetUrl };

/** As Standard Webhooks says, so that stock verifiers take it. */
const givenSecret = z.string().check(
  valueRule((text) =>
    isSecret(text)
      ? undefined
      : {
          code: 'invalid_characters',
          message: `${fieldName} must be whsec_ and the base64 of 24 to 64 bytes`,
        },
  ),
);
const isSecret = (text: string): boolean => {
  const encoded = text.slice('whsec_'.length);
  const bytes = Buffer.from(encoded, 'base64');
  return (
    text.startsWith('whsec_') &&
    bytes.toString('base64') === encoded &&
    bytes.length >= 24 &&
    bytes.length <= 64
  );
};

/** Why the receiver was not reached, or not taken for one: never its own words. */
export const agentErrors = [
  'connection_refused',
  'timeout',
  'tls_error',
  'http_4xx',
  'http_5xx',
  'challenge_failed',
] as const;
export type AgentError = (typeof agentErrors)[number];

/** Waits for the challenge, if the key has not verified the URL before. Called again, it renews the subscription. */
export const subscribeAgent = defineOperation({
  ...agents,
  id: 'subscribeAgent',
  repeat: 'harmless',
  path: '/agents/subscribe',
  bucket: 'admin',
  deadlineMs: 15_000,
  summary: 'Subscribe an agent',
  body: z.strictObject({
    ...identity,
    secret: givenSecret,
    ttlMs: z.int().min(0).optional(),
  }),
  answers: {
    200: {
      description: 'The subscription.',
      schema: z.object({
        id: z.string(),
        refreshBefore: instant,
        deliveryStatus: z
          .object({
            active: z.boolean(),
            lastDeliveryAt: instant.nullable(),
            lastError: z.enum(agentErrors).nullable(),
          })
          .nullable()
          .meta({ description: 'Until now; null for a new subscription.' }),
      }),
    },
  },
});

export const unsubscribeAgent = defineOperation({
  ...agents,
  id: 'unsubscribeAgent',
  repeat: 'once',
  path: '/agents/unsubscribe',
  bucket: 'write',
  deadlineMs: 5000,
  summary: 'Unsubscribe an agent',
  body: z.strictObject(identity),
  answers: { 204: { description: 'Unsubscribed.', schema: null } },
});
