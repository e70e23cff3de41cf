import { z } from 'zod';
import { errorClasses } from '../delivery-states.ts';
import { defineOperation, memberDefaults } from '../operation.ts';
import { conditions } from '../schemas/subscription-rules.ts';
import { count, instant } from '../schemas/values.ts';
import { subscribedTypes, subscription } from '../schemas/webhooks.ts';

const subscriptions = { ...memberDefaults, service: 'webhooks', role: 'developer' } as const;

export const boundedCount = z.object({
  count,
  isMore: z.boolean().meta({ description: 'Whether there may be more than were counted.' }),
});

/** Counts at most 10,000 deliveries of a subscription in a state. */
export const undelivered = boundedCount.extend({
  oldestUtc: instant.nullable().meta({ description: 'When the oldest of the events happened.' }),
});

export const portalSubscription = subscription.extend({
  /** Null while it is enabled. */
  disabledUtc: instant.nullable(),
  autoDisabled: z.boolean(),
  /** When it is removed; null: never. */
  expiresUtc: instant.nullable(),
  /** Null: no challenge is needed to deliver to it. `required`: disabled by choice, and enabling sends a challenge. */
  verification: z
    .object({
      state: z.enum(['pending', 'required']),
      challengedUtc: instant.nullable(),
      failure: z.string().nullable().meta({ description: 'Why it failed, as a sentence.' }),
    })
    .nullable(),
  pausedUtc: instant.nullable(),
  /** Null: it is not paused. */
  pausedBy: z.string().nullable(),
  /** Until when the previous secret also signs. */
  previousSecretUntilUtc: instant.nullable(),
  /** All failed attempts since the last success, including those that `consecutiveFailures` does not count. */
  failedAttempts: count,
  /** Events it missed while it was disabled, or at the quota of waiting deliveries; null if there are none. */
  missed: z.object({ count, sinceUtc: instant }).nullable(),
  health: z.object({
    succeeded24h: count,
    failed24h: count,
    held: count,
    waiting: count,
    /** Failed for good, without a later replay of their events. */
    givenUp: count,
    undelivered,
    lastSuccessUtc: instant.nullable(),
    lastFailureUtc: instant.nullable(),
  }),
});

/** How many of the last events of the types would have been delivered with these conditions. */
export const previewConditions = defineOperation({
  ...subscriptions,
  method: 'POST',
  repeat: 'harmless',
  path: '/subscriptions/preview-conditions',
  body: z.strictObject({ eventTypes: subscribedTypes, conditions }),
  answers: { 200: { schema: z.object({ matched: count, events: count }) } },
});

/** Gives up the missed events: they are neither counted nor offered any longer, and stay in the event log. */
export const dismissMissedEvents = defineOperation({
  ...subscriptions,
  method: 'POST',
  repeat: 'harmless',
  path: '/subscriptions/{id}/missed/dismiss',
  answers: { 204: { schema: null } },
});

const headerPairs = z.array(z.tuple([z.string(), z.string()]));
const elapsed = z.int().min(0).nullable();

export const testAttempt = z.object({
  success: z.boolean(),
  statusCode: z.int().nullable(),
  elapsedMs: z.int().min(0),
  timings: z.object({ dnsMs: elapsed, connectMs: elapsed, tlsMs: elapsed, firstByteMs: elapsed }),
  address: z.string().nullable().meta({ description: 'The address that was connected to.' }),
  errorClass: z.enum(errorClasses).nullable(),
  error: z.string().nullable().meta({ description: 'A sentence for people.' }),
  request: z.object({
    url: z.string(),
    headers: headerPairs.meta({ description: 'As they were sent, signatures included.' }),
    body: z.string().meta({ description: 'Byte for byte what was signed and sent.' }),
    /** `<timestamp>.<body>`, keyed with the signing secret, is the signature's input. */
    timestamp: z.string(),
    signature: z.string().meta({ description: 'The value of X-Webhook-Signature.' }),
  }),
  response: z
    .object({
      headers: headerPairs,
      body: z.string(),
      bodyBase64: z.boolean().meta({ description: 'The body is not UTF-8 and comes as base64.' }),
      truncated: z.boolean(),
    })
    .nullable(),
});

const settings = { ...memberDefaults, service: 'webhooks', path: '/subscription-settings' } as const;

const settingsFields = {
  verifyEndpoints: z.boolean(),
};
const settingsAnswers = {
  200: { schema: z.object(settingsFields) },
};

export const getSubscriptionSettings = defineOperation({
  ...settings,
  method: 'GET',
  role: 'viewer',
  answers: settingsAnswers,
});

/**
 * Turns endpoint verification on or off; when off, subscriptions that wait for it stay disabled but no longer need it.
 */
export const updateSubscriptionSettings = defineOperation({
  ...settings,
  method: 'PATCH',
  repeat: 'once',
  role: 'admin',
  body: z.strictObject(settingsFields),
  answers: settingsAnswers,
});
