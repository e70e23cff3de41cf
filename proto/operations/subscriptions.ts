import { z } from 'zod';
import { enablingDeadlineMs, errorClasses } from '../delivery-states.ts';
import { defineOperation } from '../operation.ts';
import { readOnly } from '../parse/read-only.ts';
import { actionInvalid, pathId, recordMissing, setsSomething } from '../schemas/records.ts';
import { count, optionalText, rule } from '../schemas/values.ts';
import * as w from '../schemas/webhooks.ts';

const subscriptions = {
  audience: 'key',
  service: 'webhooks',
  scope: 'webhooks:write',
  errorShape: 'general',
  deadlineMs: 5000,
  tag: 'Webhook subscriptions',
  query: null,
} as const;

const path = { id: 'ID of the subscription.' } as const;
const missing = recordMissing('subscription');
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwcLbnQ2nJxkE=';

const toolManaged = {
  description: 'Or the subscription is managed by a tool.',
  example: {
    error: 'the subscription is managed by zapier and cannot be edited here',
    managed_by: 'zapier',
    is_tool_managed: true,
  },
};

export const createSubscription = defineOperation({
  ...subscriptions,
  id: 'createSubscription',
  method: 'POST',
  repeat: 'once',
  path: '/webhooks/subscriptions',
  bucket: 'admin',
  summary: 'Subscribe a URL to event types',
  description:
    'The signing secret is shown in this answer only. If the company requires endpoint verification, the answer has `enabled: false`, and Causeway sends the receiver a challenge at once.',
  params: {},
  body: z.strictObject({
    url: w.targetUrl,
    eventTypes: w.subscribedTypes,
    enabled: z.boolean().default(true),
    name: w.subscriptionName,
    description: w.subscriptionDescription,
    managedBy: w.managedBy,
  }),
  bodyExample: {
    url: 'https://hooks.example.com/causeway',
    eventTypes: ['client.created', 'client.status_changed'],
    enabled: true,
    name: 'Billing',
  },
  answers: {
    201: {
      description: 'The subscription, with its signing secret.',
      schema: w.subscriptionWithSecret,
      example: { ...w.subscriptionExample, signingSecret: secret },
    },
  },
  errors: {
    400: {
      ...actionInvalid('eventTypes', 'at least one event type is required'),
      description:
        'The company has reached its quota of subscriptions (the error then has `quota` and `limit`).',
    },
  },
});

export const listSubscriptions = defineOperation({
  ...subscriptions,
  id: 'listSubscriptions',
  method: 'GET',
  path: '/webhooks/subscriptions',
  bucket: 'read',
  summary: 'List the subscriptions',
  params: {},
  body: null,
  answers: {
    200: {
      description: 'All subscriptions of the company.',
      schema: z.object({ subscriptions: z.array(w.subscription), count }),
      example: { subscriptions: [w.subscriptionExample], count: 1 },
    },
  },
  errors: {},
});

export const getSubscription = defineOperation({
  ...subscriptions,
  id: 'getSubscription',
  method: 'GET',
  path: '/webhooks/subscriptions/{id}',
  bucket: 'read',
  summary: 'Read one subscription',
  params: path,
  body: null,
  answers: {
    200: { description: 'The subscription.', schema: w.subscription, example: w.subscriptionExample },
  },
  errors: { 404: missing },
});

export const updateSubscription = defineOperation({
  ...subscriptions,
  id: 'updateSubscription',
  method: 'PATCH',
  repeat: 'once',
  path: '/webhooks/subscriptions/{id}',
  bucket: 'admin',
  deadlineMs: enablingDeadlineMs,
  summary: 'Change a subscription',
  description:
    'Only the sent fields change. Disabling holds the waiting deliveries. Enabling resets the failure count; held deliveries stay held until they are released or discarded. A subscription that is managed by a tool cannot be edited. If the company requires endpoint verification, a new URL must be verified again, and `enabled: true` on a subscription that is not verified sends a challenge and answers 409 if the receiver does not echo it.',
  params: path,
  body: z
    .strictObject({
      url: w.targetUrl.optional(),
      eventTypes: w.subscribedTypes.optional(),
      enabled: z.boolean().optional(),
      name: w.subscriptionName,
      description: w.subscriptionDescription,
      id: pathId,
      ...readOnly(...w.subscriptionReadOnly),
    })
    .check(setsSomething)
    .meta({ minProperties: 1 }),
  bodyExample: { eventTypes: ['client.created'], enabled: false },
  answers: {
    200: {
      description: 'The updated subscription.',
      schema: w.subscription,
      example: { ...w.subscriptionExample, eventTypes: ['client.created'], enabled: false },
    },
  },
  errors: { 400: actionInvalid('url', 'invalid URL'), 403: toolManaged, 404: missing, 409: w.notEchoed },
});

export const rotateSubscriptionSecret = defineOperation({
  ...subscriptions,
  id: 'rotateSubscriptionSecret',
  method: 'POST',
  repeat: 'once',
  path: '/webhooks/subscriptions/{id}/rotate-secret',
  bucket: 'admin',
  summary: 'Replace the signing secret',
  description:
    'Without `overlapHours` the old secret ends at once. With it, deliveries carry the signatures of both secrets for that long. While an earlier overlap lasts, the answer is 409, so that no secret ends before its announced time; `overlapHours: 0` always succeeds and ends every earlier secret at once.',
  params: path,
  body: z.strictObject({
    overlapHours: z
      .int({ error: '{field} must be an integer between 0 and 72' })
      .min(0, { error: '{field} must be an integer between 0 and 72' })
      .max(72, { error: '{field} must be an integer between 0 and 72' })
      .optional(),
  }),
  bodyExample: { overlapHours: 24 },
  answers: {
    200: {
      description: 'The subscription, with its new signing secret.',
      schema: w.subscriptionWithSecret,
      example: { ...w.subscriptionExample, signingSecret: secret },
    },
  },
  errors: {
    400: actionInvalid('overlapHours', 'overlapHours must be an integer between 0 and 72'),
    403: toolManaged,
    404: missing,
    409: w.overlapLasts,
  },
});

const cannotRelease = {
  description: 'The subscription is disabled, or held deliveries are being released, discarded or replayed.',
  example: { error: 'the subscription is disabled; enable it first' },
};
const cannotDiscard = {
  description: 'Held deliveries are being released, discarded or replayed.',
  example: {
    error:
      'held deliveries are being released for this subscription (7); wait for it, or cancel it in the portal',
  },
};
const heldCount = {
  202: {
    description: 'Number of deliveries that were held at the start; 0 if there was nothing to do.',
    schema: z.object({ count: z.int().min(0) }),
    example: { count: 310 },
  },
};

export const releaseHeldDeliveries = defineOperation({
  ...subscriptions,
  id: 'releaseHeldDeliveries',
  method: 'POST',
  repeat: 'once',
  path: '/webhooks/subscriptions/{id}/held/release',
  bucket: 'admin',
  summary: 'Release held deliveries',
  description:
    'Sends the deliveries that were held while the subscription was disabled, oldest first and alongside live traffic. Enable the subscription first. `heldDeliveries` of the subscription falls to 0 as they are released. Also works for a subscription that is managed by a tool.',
  params: path,
  body: null,
  answers: heldCount,
  errors: { 404: missing, 409: cannotRelease },
});

export const discardHeldDeliveries = defineOperation({
  ...subscriptions,
  id: 'discardHeldDeliveries',
  method: 'POST',
  repeat: 'once',
  path: '/webhooks/subscriptions/{id}/held/discard',
  bucket: 'admin',
  summary: 'Discard held deliveries',
  description:
    'Discards the deliveries that were held while the subscription was disabled, whether or not it is enabled now. The events stay in the event log, and the portal can replay them. Also works for a subscription that is managed by a tool.',
  params: path,
  body: null,
  answers: heldCount,
  errors: { 404: missing, 409: cannotDiscard },
});

export const deleteSubscription = defineOperation({
  ...subscriptions,
  id: 'deleteSubscription',
  method: 'DELETE',
  repeat: 'once',
  path: '/webhooks/subscriptions/{id}',
  bucket: 'write',
  summary: 'Delete a subscription',
  description: 'Also works for a subscription that is managed by a tool.',
  params: path,
  body: null,
  answers: { 204: { description: 'Deleted. No body.', schema: null } },
  errors: { 404: missing },
});

export const testSubscription = defineOperation({
  ...subscriptions,
  id: 'testSubscription',
  method: 'POST',
  repeat: 'once',
  path: '/webhooks/subscriptions/{id}/test',
  scope: 'admin',
  bucket: 'admin',
  deadlineMs: 15_000,
  summary: 'Send a test delivery',
  description:
    'Signed and sent exactly like a real delivery, with `metadata` added to the envelope. Answers 200 whatever the receiver answers. Never changes the failure count or the event log. A disabled subscription can be tested too.',
  params: path,
  body: z
    .strictObject({
      eventType: optionalText({
        max: 100,
        description: "One of the subscription's event types; the first one by default.",
      }),
      useSamplePayload: z.boolean().default(true),
      samplePayload: w.eventPayload
        .optional()
        .meta({ description: 'Sent unchanged, instead of a generated sample.' }),
      statusOverride: optionalText({ max: 100, description: 'Becomes `metadata.status`.' }),
    })
    .check(
      rule(({ useSamplePayload, samplePayload }) =>
        useSamplePayload !== false || samplePayload
          ? undefined
          : {
              field: 'samplePayload',
              message: 'samplePayload is required when useSamplePayload is false',
              extra: { hint: 'send samplePayload, or leave useSamplePayload out to have one generated' },
            },
      ),
    ),
  bodyExample: { eventType: 'client.created', statusOverride: 'Client - Active' },
  answers: {
    200: {
      description: 'The result of the attempt.',
      schema: z.object({
        success: z.boolean().meta({ description: 'True if the receiver answered 2xx within the timeout.' }),
        statusCode: z.int().nullable().meta({ description: 'null if there was no answer.' }),
        elapsedMs: z.int().min(0),
        responseBodyTruncated: z.boolean(),
        responseBody: z.string(),
        targetUrlUsed: z.string().meta({
          description: 'The URL that was called, normalised: with the host in ASCII and without a fragment.',
        }),
        error: z.enum(errorClasses).nullable().meta({
          description:
            'Why it failed; null after a 2xx. `dns`: the host does not resolve to an address that deliveries can go to; `connect`: no connection; `tls`: no secure connection; `timeout`: no answer in time; `reset`: the connection ended early or did not speak HTTP; `redirect`: a 3xx, which is not followed; `blocked_address`: deliveries may not go to this URL; `status`: any other status.',
        }),
        message: z
          .string()
          .nullable()
          .meta({ description: 'The reason as a sentence for people; null after a 2xx.' }),
      }),
      example: {
        success: true,
        statusCode: 200,
        elapsedMs: 84,
        responseBodyTruncated: false,
        responseBody: 'ok',
        targetUrlUsed: 'https://hooks.example.com/causeway',
        error: null,
        message: null,
      },
    },
  },
  errors: {
    400: {
      description: 'The subscription does not have the event type, or a field is not valid.',
      example: {
        error: 'the subscription does not include the event type payment.failed',
        subscribedEventTypes: ['client.created', 'client.status_changed'],
      },
    },
    404: missing,
  },
});
