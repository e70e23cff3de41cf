import { z } from 'zod';
import { enablingDeadlineMs } from '../deliveries/challenge.ts';
import { elapsedBoundsMs, errorClasses } from '../deliveries/states.ts';
import { defineOperation, maxBodyBytes } from '../operation.ts';
import {
  rotateSubscriptionSecret,
  testSubscription,
  updateSubscription,
} from '../operations/subscriptions.ts';
import { actionInvalid, recordMissing } from '../schemas/records.ts';
import { count, instant } from '../schemas/values.ts';
import * as w from '../schemas/webhooks.ts';

const subscriptions = {
  service: 'webhooks',
  role: 'developer',
  deadlineMs: 5000,
  query: null,
  params: {},
} as const;

const one = { id: 'ID of the subscription.' } as const;
const missing = recordMissing('subscription');
const toolManaged = {
  description: 'The subscription is managed by a tool: it can only be enabled, disabled, tested and deleted.',
  example: {
    error: 'the subscription is managed by zapier and cannot be edited here',
    managed_by: 'zapier',
    is_tool_managed: true,
  },
};
const badUrl = actionInvalid('url', 'invalid URL');

/** The subscription as the interface shows it, and its health. */
export const portalSubscription = w.subscription.extend({
  /** When it was disabled; null while it is enabled. */
  disabledUtc: instant.nullable(),
  /** Whether the service disabled it automatically after failures. */
  autoDisabled: z.boolean(),
  /** Null: no challenge is needed to deliver to it. `required`: disabled by choice, and enabling sends a challenge. */
  verification: z
    .object({
      state: z.enum(['pending', 'required']),
      /** When the result of the last challenge came. */
      challengedUtc: instant.nullable(),
      failure: z.string().nullable().meta({ description: 'Why it failed, as a sentence.' }),
    })
    .nullable(),
  /** Until when the previous secret also signs. */
  previousSecretUntilUtc: instant.nullable(),
  /** All failed attempts since the last success, including those that `consecutiveFailures` does not count. */
  failedAttempts: count,
  /** Events it missed because the company reached its quota of waiting deliveries; null if there are none. */
  missed: z.object({ count, sinceUtc: instant }).nullable(),
  health: z.object({
    /** Attempts of the last 24 hours. */
    succeeded24h: count,
    failed24h: count,
    /** Held deliveries, until a member releases or discards them. */
    held: count,
    /** Deliveries that wait for an attempt. */
    waiting: count,
    lastSuccessUtc: instant.nullable(),
    lastFailureUtc: instant.nullable(),
  }),
});

export const portalSubscriptionExample = {
  ...w.subscriptionExample,
  disabledUtc: null,
  autoDisabled: false,
  verification: null,
  previousSecretUntilUtc: null,
  failedAttempts: 0,
  missed: null,
  health: {
    succeeded24h: 1204,
    failed24h: 3,
    held: 0,
    waiting: 1,
    lastSuccessUtc: '2026-01-15T11:02:00.000Z',
    lastFailureUtc: '2026-01-15T08:14:00.000Z',
  },
};

const record = {
  200: { description: 'The subscription.', schema: portalSubscription, example: portalSubscriptionExample },
};
const withSecret = {
  description: 'The subscription, with its signing secret, which is shown in this answer only.',
  schema: portalSubscription.extend({ signingSecret: z.string() }),
  example: {
    ...portalSubscriptionExample,
    signingSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwcLbnQ2nJxkE=',
  },
};

export const listPortalSubscriptions = defineOperation({
  audience: 'member',
  ...subscriptions,
  id: 'listPortalSubscriptions',
  method: 'GET',
  path: '/subscriptions',
  role: 'viewer',
  summary: 'List subscriptions with their health',
  body: null,
  answers: {
    200: {
      description: 'The subscriptions.',
      schema: z.object({ subscriptions: z.array(portalSubscription), count }),
      example: { subscriptions: [portalSubscriptionExample], count: 1 },
    },
  },
  errors: {},
});

export const getPortalSubscription = defineOperation({
  audience: 'member',
  ...subscriptions,
  id: 'getPortalSubscription',
  method: 'GET',
  path: '/subscriptions/{id}',
  role: 'viewer',
  params: one,
  summary: 'One subscription',
  body: null,
  answers: record,
  errors: { 404: missing },
});

export const checkSubscriptionUrl = defineOperation({
  audience: 'member',
  ...subscriptions,
  id: 'checkSubscriptionUrl',
  method: 'POST',
  repeat: 'harmless',
  path: '/subscriptions/check-url',
  summary: 'Check a URL against the rules of this installation, without connecting to it',
  body: z.strictObject({ url: z.string().max(5000) }),
  answers: {
    200: {
      description: 'The problem of the URL, if any.',
      schema: z.object({
        problem: z.string().nullable().meta({ description: 'A sentence; null if the URL is valid.' }),
      }),
      example: { problem: null },
    },
  },
  errors: {},
});

export const createPortalSubscription = defineOperation({
  audience: 'member',
  ...subscriptions,
  id: 'createPortalSubscription',
  method: 'POST',
  repeat: 'once',
  path: '/subscriptions',
  summary: 'Subscribe a URL to event types',
  body: z.strictObject({
    url: w.targetUrl,
    eventTypes: w.subscribedTypes,
    enabled: z.boolean().default(true),
    name: w.subscriptionName,
    description: w.subscriptionDescription,
  }),
  answers: { 201: withSecret },
  errors: { 400: badUrl },
});

export const updatePortalSubscription = defineOperation({
  audience: 'member',
  ...subscriptions,
  id: 'updatePortalSubscription',
  method: 'PATCH',
  repeat: 'once',
  path: '/subscriptions/{id}',
  params: one,
  deadlineMs: enablingDeadlineMs,
  summary: 'Change a subscription; only the sent fields change',
  body: updateSubscription.body,
  answers: record,
  errors: { 400: badUrl, 403: toolManaged, 404: missing, 409: w.notEchoed },
});

export const enablePortalSubscription = defineOperation({
  audience: 'member',
  ...subscriptions,
  id: 'enablePortalSubscription',
  method: 'POST',
  repeat: 'once',
  path: '/subscriptions/{id}/enable',
  params: one,
  deadlineMs: enablingDeadlineMs,
  summary:
    'Enable a subscription, including one managed by a tool; held deliveries stay held. If it is not verified, its receiver must echo a challenge first',
  body: null,
  answers: record,
  errors: { 404: missing, 409: w.notEchoed },
});

export const disablePortalSubscription = defineOperation({
  audience: 'member',
  ...subscriptions,
  id: 'disablePortalSubscription',
  method: 'POST',
  repeat: 'once',
  path: '/subscriptions/{id}/disable',
  params: one,
  summary: 'Disable a subscription, including one managed by a tool; its waiting deliveries are held',
  body: null,
  answers: record,
  errors: { 404: missing },
});

export const rotatePortalSubscriptionSecret = defineOperation({
  audience: 'member',
  ...subscriptions,
  id: 'rotatePortalSubscriptionSecret',
  method: 'POST',
  repeat: 'once',
  path: '/subscriptions/{id}/rotate-secret',
  params: one,
  summary:
    'Replace the signing secret; with `overlapHours` (1–72) both sign for that long, with 0 every earlier secret ends',
  body: rotateSubscriptionSecret.body,
  answers: { 200: withSecret },
  errors: {
    400: actionInvalid('overlapHours', 'overlapHours must be an integer between 0 and 72'),
    403: toolManaged,
    404: missing,
    409: w.overlapLasts,
  },
});

export const deletePortalSubscription = defineOperation({
  audience: 'member',
  ...subscriptions,
  id: 'deletePortalSubscription',
  method: 'DELETE',
  repeat: 'once',
  path: '/subscriptions/{id}',
  params: one,
  summary:
    'Delete a subscription, including one managed by a tool; its waiting and held deliveries are dropped',
  body: null,
  answers: { 204: { description: 'Deleted.', schema: null } },
  errors: { 404: missing },
});

const headerPairs = z.array(z.tuple([z.string(), z.string()]));
const elapsed = z.int().min(0).nullable();

/** A complete attempt. */
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

export const testPortalSubscription = defineOperation({
  audience: 'member',
  ...subscriptions,
  id: 'testPortalSubscription',
  method: 'POST',
  path: '/subscriptions/{id}/test',
  params: one,
  deadlineMs: 15_000,
  summary: 'Send a test delivery and see the request and the response',
  body: testSubscription.body,
  maxBodyBytes,
  answers: {
    200: {
      description: 'What was sent and what came back, whatever the receiver did.',
      schema: testAttempt,
      example: {
        success: true,
        statusCode: 200,
        elapsedMs: 84,
        timings: { dnsMs: 3, connectMs: 12, tlsMs: 25, firstByteMs: elapsedBoundsMs[3] },
        address: '203.0.113.9',
        errorClass: null,
        error: null,
        request: {
          url: 'https://hooks.example.com/causeway',
          headers: [['Content-Type', 'application/json']],
          body: '{"id":90071,"type":"client.created"}',
          timestamp: '1768469400',
          signature: 'sha256=5f0c…',
        },
        response: {
          headers: [['Content-Type', 'text/plain']],
          body: 'ok',
          bodyBase64: false,
          truncated: false,
        },
      },
    },
  },
  errors: { ...testSubscription.errors, 404: missing },
});
