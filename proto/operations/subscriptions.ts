import { z } from 'zod';
import { enablingDeadlineMs } from '../delivery-states.ts';
import { defineOperation, maxBodyBytes } from '../operation.ts';
import { readOnly } from '../parse/read-only.ts';
import { cursorParameter, nextPage } from '../portal/fields.ts';
import { replay } from '../portal/replays.ts';
import { portalSubscription, testAttempt } from '../portal/subscriptions.ts';
import { limitParameter } from '../schemas/fields.ts';
import { actionInvalid, pathId, recordMissing, setsSomething, subscriptionPath } from '../schemas/records.ts';
import { subscriptionChanges } from '../schemas/subscription-rules.ts';
import { count, sameName } from '../schemas/values.ts';
import * as w from '../schemas/webhooks.ts';

const subscriptions = { service: 'webhooks', deadlineMs: 5000, query: null, body: null } as const;
const posted = { ...subscriptions, method: 'POST', repeat: 'once' } as const;
const key = { scope: 'webhooks:write', errorShape: 'general', tag: 'Webhook subscriptions' } as const;
const member = { role: 'developer', errors: [] } as const;

const missing = recordMissing('subscription');
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwcLbnQ2nJxkE=';

const portalRecordWithSecret = { schema: portalSubscription.extend({ signingSecret: z.string() }) };

export const createSubscription = defineOperation({
  ...posted,
  callers: {
    key: {
      ...key,
      path: '/webhooks/subscriptions',
      bucket: 'admin',
      summary: 'Subscribe a URL to event types',
      description:
        'The signing secret is shown in this answer only. If the company requires endpoint verification, the answer has `enabled: false`, and Causeway sends the receiver a challenge at once. With `managedBy`, a second create with the same URL and event types answers 200 with the subscription that is there, so a tool can save its workflow twice.',
      params: {},
      body: z.strictObject({ ...w.newSubscription, managedBy: w.managedBy }),
      bodyExample: {
        url: 'https://hooks.example.com/causeway',
        eventTypes: ['client.created', 'client.status_changed'],
        enabled: true,
        name: 'Billing',
      },
      answers: {
        200: { ...w.savedAgain, example: { ...w.savedAgain.example, signingSecret: secret } },
        201: {
          description: 'The subscription, with its signing secret.',
          schema: w.subscriptionWithSecret,
          example: { ...w.subscriptionExample, signingSecret: secret },
        },
      },
      errors: {
        400: {
          ...actionInvalid('eventTypes', 'required', 'at least one event type is required'),
          description:
            'The company has reached its quota of subscriptions (the error then has `quota` and `limit`).',
        },
      },
    },
    member: {
      ...member,
      id: 'createPortalSubscription',
      path: '/subscriptions',
      body: z.strictObject({ ...w.newSubscription, basedOn: sameName }),
      answers: { 201: portalRecordWithSecret },
      errors: [409],
    },
  },
});

export const listSubscriptions = defineOperation({
  ...subscriptions,
  method: 'GET',
  callers: {
    key: {
      ...key,
      path: '/webhooks/subscriptions',
      bucket: 'read',
      summary: 'List the subscriptions',
      description: 'In the order of their IDs.',
      params: {},
      query: z.strictObject({
        limit: limitParameter({ min: 1, max: 1000, otherwise: 1000 }),
        cursor: cursorParameter,
      }),
      answers: {
        200: {
          description: 'The subscriptions, and the cursor of the next page.',
          schema: z.object({ subscriptions: z.array(w.subscription).max(1000), count, ...nextPage }),
          example: { subscriptions: [w.subscriptionExample], count: 1, nextCursor: null, hasMore: false },
        },
      },
      errors: { 400: actionInvalid('cursor', 'invalid_characters', 'invalid cursor') },
    },
    member: {
      ...member,
      id: 'listPortalSubscriptions',
      path: '/subscriptions',
      role: 'viewer',
      answers: { 200: { schema: z.object({ subscriptions: z.array(portalSubscription), count }) } },
    },
  },
});

export const getSubscription = defineOperation({
  ...subscriptions,
  method: 'GET',
  callers: {
    key: {
      ...key,
      path: '/webhooks/subscriptions/{id}',
      bucket: 'read',
      summary: 'Read one subscription',
      params: subscriptionPath,
      answers: {
        200: { description: 'The subscription.', schema: w.subscription, example: w.subscriptionExample },
      },
      errors: { 404: missing },
    },
    member: {
      ...member,
      id: 'getPortalSubscription',
      path: '/subscriptions/{id}',
      role: 'viewer',
      answers: { 200: { schema: portalSubscription } },
    },
  },
});

const changes = {
  url: w.targetUrl.optional(),
  eventTypes: w.subscribedTypes.optional(),
  enabled: z.boolean().optional(),
  name: w.subscriptionName,
  description: w.subscriptionDescription,
  ...subscriptionChanges,
  id: pathId,
  ...readOnly(...w.subscriptionReadOnly),
};

export const updateSubscription = defineOperation({
  ...subscriptions,
  method: 'PATCH',
  repeat: 'once',
  deadlineMs: enablingDeadlineMs,
  callers: {
    key: {
      ...key,
      path: '/webhooks/subscriptions/{id}',
      bucket: 'admin',
      summary: 'Change a subscription',
      description:
        'Only the sent fields change. Disabling holds the waiting deliveries. Enabling resets the failure count; held deliveries stay held until they are released or discarded. A subscription that is managed by a tool cannot be edited. If the company requires endpoint verification, a new URL must be verified again, and `enabled: true` on a subscription that is not verified sends a challenge and answers 409 if the receiver does not echo it.',
      params: subscriptionPath,
      body: z.strictObject(changes).check(setsSomething).meta({ minProperties: 1 }),
      bodyExample: { eventTypes: ['client.created'], enabled: false },
      answers: {
        200: {
          description: 'The updated subscription.',
          schema: w.subscription,
          example: { ...w.subscriptionExample, eventTypes: ['client.created'], enabled: false },
        },
      },
      errors: {
        400: actionInvalid('url', 'invalid_characters', 'invalid URL'),
        403: w.toolManaged,
        404: missing,
        409: w.notEchoed,
      },
    },
    member: {
      ...member,
      id: 'updatePortalSubscription',
      path: '/subscriptions/{id}',
      /** With `w.basedOn`, a field that was changed meanwhile is refused, with its stored value in `changed`. */
      body: z.strictObject({ ...changes, basedOn: w.basedOn.optional() }).check(setsSomething),
      answers: { 200: { schema: portalSubscription } },
      errors: [409], // The receiver did not echo the challenge, or a field was changed meanwhile.
    },
  },
});

const overlapSentence = 'must be an integer between 0 and 72';
const overlapRule = { error: `{field} ${overlapSentence}` };
export const rotateSubscriptionSecret = defineOperation({
  ...posted,
  body: z.strictObject({
    overlapHours: z.int(overlapRule).min(0, overlapRule).max(72, overlapRule).optional(),
  }),
  callers: {
    key: {
      ...key,
      path: '/webhooks/subscriptions/{id}/rotate-secret',
      bucket: 'admin',
      summary: 'Replace the signing secret',
      description:
        'Without `overlapHours` the old secret ends at once. With it, deliveries carry the signatures of both secrets for that long. While an earlier overlap lasts, the answer is 409, so that no secret ends before its announced time; `overlapHours: 0` always succeeds and ends every earlier secret at once.',
      params: subscriptionPath,
      bodyExample: { overlapHours: 24 },
      answers: {
        200: {
          description: 'The subscription, with its new signing secret.',
          schema: w.subscriptionWithSecret,
          example: { ...w.subscriptionExample, signingSecret: secret },
        },
      },
      errors: {
        400: actionInvalid('overlapHours', 'out_of_range', `overlapHours ${overlapSentence}`),
        403: w.toolManaged,
        404: missing,
        409: w.overlapLasts,
      },
    },
    member: {
      ...member,
      id: 'rotatePortalSubscriptionSecret',
      path: '/subscriptions/{id}/rotate-secret',
      answers: { 200: portalRecordWithSecret },
      errors: [409],
    },
  },
});

const heldCount = {
  202: {
    description: 'Number of deliveries that were held at the start; 0 if there was nothing to do.',
    schema: z.object({ count: z.int().min(0) }),
    example: { count: 310 },
  },
};

export const releaseHeldDeliveries = defineOperation({
  ...posted,
  callers: {
    key: {
      ...key,
      path: '/webhooks/subscriptions/{id}/held/release',
      bucket: 'admin',
      summary: 'Release held deliveries',
      description:
        'Sends the deliveries that were held while the subscription was disabled, oldest first and alongside live traffic. Enable the subscription first. `heldDeliveries` of the subscription falls to 0 as they are released. Also works for a subscription that is managed by a tool.',
      params: subscriptionPath,
      answers: heldCount,
      errors: { 404: missing, 409: w.cannotRelease },
    },
    member: {
      ...member,
      id: 'releaseHeld',
      path: '/subscriptions/{id}/held/release',
      answers: { 201: { schema: replay } },
      // The subscription is disabled, a similar replay is in progress, or nothing is held.
      errors: [409],
    },
  },
});

export const discardHeldDeliveries = defineOperation({
  ...posted,
  callers: {
    key: {
      ...key,
      path: '/webhooks/subscriptions/{id}/held/discard',
      bucket: 'admin',
      summary: 'Discard held deliveries',
      description:
        'Discards the deliveries that were held while the subscription was disabled, whether or not it is enabled now. The events stay in the event log, and the portal can replay them. Also works for a subscription that is managed by a tool.',
      params: subscriptionPath,
      answers: heldCount,
      errors: { 404: missing, 409: w.cannotDiscard },
    },
    member: {
      ...member,
      id: 'discardHeld',
      path: '/subscriptions/{id}/held/drop',
      answers: { 201: { schema: replay } },
      errors: [409],
    },
  },
});

export const deleteSubscription = defineOperation({
  ...subscriptions,
  method: 'DELETE',
  repeat: 'once',
  callers: {
    key: {
      ...key,
      path: '/webhooks/subscriptions/{id}',
      bucket: 'write',
      summary: 'Delete a subscription',
      description: 'Also works for a subscription that is managed by a tool.',
      params: subscriptionPath,
      answers: { 204: { description: 'Deleted. No body.', schema: null } },
      errors: { 404: missing },
    },
    member: {
      ...member,
      id: 'deletePortalSubscription',
      path: '/subscriptions/{id}',
      answers: { 204: { schema: null } },
    },
  },
});

export const testSubscription = defineOperation({
  ...subscriptions,
  method: 'POST',
  deadlineMs: 15_000,
  body: w.testDelivery,
  callers: {
    key: {
      ...key,
      repeat: 'once',
      path: '/webhooks/subscriptions/{id}/test',
      scope: 'admin',
      bucket: 'admin',
      summary: 'Send a test delivery',
      description:
        'Signed and sent exactly like a real delivery, with `metadata` added to the envelope. Answers 200 whatever the receiver answers. Never changes the failure count or the event log. A disabled subscription can be tested too.',
      params: subscriptionPath,
      bodyExample: { eventType: 'client.created', statusOverride: 'Client - Active' },
      answers: {
        200: {
          description: 'The result of the attempt.',
          schema: w.testResult,
          example: w.testResultExample,
        },
      },
      errors: {
        400: w.testRefused,
        404: missing,
      },
    },
    member: {
      ...member,
      id: 'testPortalSubscription',
      path: '/subscriptions/{id}/test',
      maxBodyBytes,
      answers: { 200: { schema: testAttempt } },
    },
  },
});
