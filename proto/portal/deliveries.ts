import { z } from 'zod';
import { deliveryStates, errorClasses } from '../deliveries/states.ts';
import { defineOperation } from '../operation.ts';
import { idParameter, limitParameter } from '../schemas/query.ts';
import { actionInvalid, recordMissing } from '../schemas/records.ts';
import { fieldName } from '../schemas/text.ts';
import { id, instant } from '../schemas/values.ts';
import { eventTypeAnswer, knownEventType } from '../schemas/webhooks.ts';
import { cursorParameter, instantParameter, rangeParameter, ranges } from './fields.ts';
import { testAttempt } from './subscriptions.ts';

const deliveries = {
  service: 'webhooks',
  role: 'viewer',
  deadlineMs: 5000,
  method: 'GET',
  query: null,
  body: null,
  params: {},
} as const;

/** Path parameters of a delivery. */
export const oneDelivery = {
  eventId: 'ID of the event.',
  subscriptionId: 'ID of the subscription.',
  replayId: 'ID of the replay that created it; 0 for the event’s own delivery.',
} as const;
export const deliveryMissing = recordMissing('delivery');
const number = z.int().min(0);

const statusCode = z
  .string()
  .regex(/^[1-5]\d\d$/, { error: `${fieldName} must be an HTTP status code` })
  .transform(Number)
  .meta({ type: 'integer', minimum: 100, maximum: 599 });

const replayParameter = z
  .string()
  .regex(/^\d{1,15}$/, { error: `${fieldName} must be 0 or a positive integer` })
  .transform(Number)
  .meta({ type: 'integer', minimum: 0 });

/** A delivery as lists show it. */
export const delivery = z.object({
  id: z.string().meta({ description: '`<event>-<subscription>-<replay>`.' }),
  eventId: id,
  subscriptionId: id,
  replayId: number.meta({ description: '0: the event’s own delivery.' }),
  eventType: eventTypeAnswer,
  eventCreatedUtc: instant,
  state: z.enum(deliveryStates),
  attempts: number.meta({ description: 'Number of attempts made.' }),
  dueUtc: instant
    .nullable()
    .meta({ description: 'While it waits: when its next attempt is due, at the latest.' }),
  lastStatusCode: z.int().nullable(),
  lastErrorClass: z.enum(errorClasses).nullable(),
  updatedUtc: instant,
  /** Its current state; null if it was deleted. */
  subscription: z.object({ name: z.string().nullable(), url: z.string(), enabled: z.boolean() }).nullable(),
});

export const deliveryExample = {
  id: '90071-42-0',
  eventId: 90_071,
  subscriptionId: 42,
  replayId: 0,
  eventType: 'client.created',
  eventCreatedUtc: '2026-01-15T09:30:00.000Z',
  state: 'waiting',
  attempts: 1,
  dueUtc: '2026-01-15T09:30:05.210Z',
  lastStatusCode: 503,
  lastErrorClass: 'status',
  updatedUtc: '2026-01-15T09:30:00.120Z',
  subscription: { name: 'Billing', url: 'https://hooks.example.com/causeway', enabled: true },
} as const;

const attemptSummary = z.object({
  attempt: id,
  startedUtc: instant,
  elapsedMs: number,
  statusCode: z.int().nullable(),
  errorClass: z.enum(errorClasses).nullable(),
  error: z.string().nullable().meta({ description: 'A sentence for people.' }),
  nextAttemptUtc: instant.nullable(),
});

export const listDeliveries = defineOperation({
  audience: 'member',
  ...deliveries,
  id: 'listDeliveries',
  path: '/deliveries',
  summary: 'Deliveries, those of the newest events first',
  query: z.strictObject({
    limit: limitParameter({ min: 1, max: 100, otherwise: 50 }),
    cursor: cursorParameter,
    subscriptionId: idParameter.optional(),
    eventId: idParameter.optional(),
    replayId: replayParameter.optional(),
    type: knownEventType.optional(),
    state: z.enum(deliveryStates).optional(),
    statusCode: statusCode.optional(),
    errorClass: z.enum(errorClasses).optional(),
    /** Times of the events; `until` is excluded. */
    since: instantParameter,
    until: instantParameter,
  }),
  answers: {
    200: {
      description:
        'The deliveries, and the cursor of the next page. A search for rare deliveries stops after a while: the page then has fewer than requested, perhaps none, and `hasMore` is true.',
      schema: z.object({
        deliveries: z
          .array(
            delivery.extend({
              summary: z.string().meta({ description: 'A few fields of the event, masked for viewers.' }),
            }),
          )
          .max(100),
        nextCursor: z.string().nullable(),
        hasMore: z.boolean(),
      }),
      example: {
        deliveries: [{ ...deliveryExample, summary: 'Käthe Kollwitz' }],
        nextCursor: null,
        hasMore: false,
      },
    },
  },
  errors: { 400: actionInvalid('cursor', 'invalid cursor') },
});

export const getDelivery = defineOperation({
  audience: 'member',
  ...deliveries,
  id: 'getDelivery',
  path: '/deliveries/{eventId}/{subscriptionId}/{replayId}',
  params: oneDelivery,
  summary: 'One delivery and its attempts',
  answers: {
    200: {
      description: 'The delivery.',
      schema: delivery.extend({
        history: z.array(attemptSummary).meta({ description: 'The first attempt first.' }),
        /** Other deliveries of the same event to the same subscription: resent and replayed ones. */
        others: z.array(delivery).max(100),
      }),
      example: {
        ...deliveryExample,
        history: [
          {
            attempt: 1,
            startedUtc: '2026-01-15T09:30:00.020Z',
            elapsedMs: 84,
            statusCode: 503,
            errorClass: 'status',
            error: 'the receiver answered 503',
            nextAttemptUtc: '2026-01-15T09:30:05.210Z',
          },
        ],
        others: [],
      },
    },
  },
  errors: { 404: deliveryMissing },
});

const attemptExample = {
  attempt: 1,
  startedUtc: '2026-01-15T09:30:00.020Z',
  nextAttemptUtc: '2026-01-15T09:30:05.210Z',
  success: false,
  statusCode: 503,
  elapsedMs: 84,
  timings: { dnsMs: 3, connectMs: 12, tlsMs: 25, firstByteMs: 80 },
  address: '203.0.113.9',
  errorClass: 'status',
  error: 'the receiver answered 503',
  request: {
    url: 'https://hooks.example.com/causeway',
    headers: [
      ['X-Webhook-Timestamp', '1768469400'],
      ['X-Webhook-Signature', 'sha256=5f0c…'],
    ],
    body: '{"id":90071,"type":"client.created"}',
    timestamp: '1768469400',
    signature: 'sha256=5f0c…',
    signedBefore: { hex: '1768469400.', standard: '90071.1768469400.' },
  },
  response: { headers: [['Content-Type', 'text/plain']], body: 'busy', bodyBase64: false, truncated: false },
  masked: false,
};

export const getAttempt = defineOperation({
  audience: 'member',
  ...deliveries,
  id: 'getAttempt',
  path: '/deliveries/{eventId}/{subscriptionId}/{replayId}/attempts/{attempt}',
  params: { ...oneDelivery, attempt: 'Which attempt, from 1.' },
  summary: 'One attempt in full: the signed request and the response',
  answers: {
    200: {
      description: 'The attempt. A viewer gets the bodies with personal data masked.',
      schema: testAttempt.extend({
        attempt: id,
        startedUtc: instant,
        nextAttemptUtc: instant.nullable(),
        request: testAttempt.shape.request.extend({
          body: z.string().nullable().meta({
            description: 'Byte for byte what was signed and sent; null if the event is no longer kept.',
          }),
          signedBefore: z.object({ hex: z.string(), standard: z.string() }).meta({
            description: 'The start of the signature input of each kind; the bytes of the body follow.',
          }),
        }),
        masked: z.boolean().meta({ description: 'Bodies are masked, so they differ from what was signed.' }),
      }),
      example: attemptExample,
    },
  },
  errors: { 404: recordMissing('attempt') },
});

const elapsed = number
  .nullable()
  .meta({ description: 'In milliseconds, from a histogram; null: no attempts.' });
const outcome = { succeeded: number, failed: number, p50Ms: elapsed, p95Ms: elapsed, p99Ms: elapsed };
const outcomeExample = { succeeded: 1204, failed: 3, p50Ms: 38, p95Ms: 120, p99Ms: 410 };

export const getDeliveryStats = defineOperation({
  audience: 'member',
  ...deliveries,
  id: 'getDeliveryStats',
  path: '/deliveries/stats',
  summary: 'Attempts over time and by subscription, with a delay of a few seconds',
  query: z.strictObject({ range: rangeParameter, subscriptionId: idParameter.optional() }),
  answers: {
    200: {
      description: 'The attempts: how many succeeded and failed, and how long they took.',
      schema: z.object({
        range: z.enum(ranges),
        fromUtc: instant,
        untilUtc: instant,
        stepMinutes: z.int().min(1),
        total: z.object(outcome),
        /** One for each step of the range, in order, including empty ones. */
        points: z.array(z.object({ utc: instant, ...outcome })),
        /** Existing subscriptions, and deleted ones with attempts in the range; failing ones first. */
        subscriptions: z.array(
          z.object({
            id,
            name: z.string().nullable(),
            /** Null if it was deleted. */
            url: z.string().nullable(),
            enabled: z.boolean(),
            consecutiveFailures: number,
            ...outcome,
          }),
        ),
      }),
      example: {
        range: '1h',
        fromUtc: '2026-01-15T08:31:00.000Z',
        untilUtc: '2026-01-15T09:31:00.000Z',
        stepMinutes: 1,
        total: outcomeExample,
        points: [{ utc: '2026-01-15T09:30:00.000Z', ...outcomeExample }],
        subscriptions: [
          {
            id: 42,
            name: 'Billing',
            url: 'https://hooks.example.com/causeway',
            enabled: true,
            consecutiveFailures: 0,
            ...outcomeExample,
          },
        ],
      },
    },
  },
  errors: {},
});
