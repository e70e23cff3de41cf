import { z } from 'zod';
import { deliveryStates, errorClasses } from '../delivery-states.ts';
import { defineOperation, memberDefaults } from '../operation.ts';
import { idParameter, limitParameter } from '../schemas/fields.ts';
import { fieldName, id, instant } from '../schemas/values.ts';
import { eventTypeAnswer, knownEventType } from '../schemas/webhooks.ts';
import { cursorParameter, instantParameter, nextPage, rangeParameter, recordParameters } from './fields.ts';
import { boundedCount, testAttempt, undelivered } from './subscriptions.ts';

const deliveries = { ...memberDefaults, service: 'webhooks', role: 'viewer', method: 'GET' } as const;
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
  subscription: z
    .object({
      name: z.string().nullable(),
      url: z.string(),
      enabled: z.boolean(),
      nextProbeUtc: instant.nullable().meta({
        description: 'While it is failing: no delivery that is due is attempted before this time.',
      }),
    })
    .nullable(),
});

/** What the event is about, masked for viewers. */
const about = {
  subject: z
    .object({
      kind: z.enum(['client', 'affiliate', 'invoice']),
      id,
      name: z.string().nullable().meta({ description: 'If the payload has it.' }),
    })
    .nullable(),
  summary: z.string().meta({ description: 'A few fields of the payload.' }),
};

const attemptSummary = z.object({
  attempt: id,
  startedUtc: instant,
  elapsedMs: number,
  statusCode: z.int().nullable(),
  errorClass: z.enum(errorClasses).nullable(),
  error: z.string().nullable().meta({ description: 'A sentence for people.' }),
  nextAttemptUtc: instant.nullable(),
});

export const deliveryStateParameter = z
  .enum([...deliveryStates, 'undelivered'])
  .optional()
  .meta({
    description: '`undelivered`: it should have arrived and has not: it waits, is held, or failed for good.',
  });

const filters = {
  subscriptionId: idParameter.optional(),
  eventId: idParameter.optional(),
  ...recordParameters,
  replayId: replayParameter.optional(),
  type: knownEventType.optional(),
  statusCode: statusCode.optional(),
  errorClass: z.enum(errorClasses).optional(),
  /** Times of the events; `until` is excluded. */
  since: instantParameter,
  until: instantParameter,
};

/** Those of the newest events first. */
export const listDeliveries = defineOperation({
  ...deliveries,
  path: '/deliveries',
  // A search for rare deliveries stops after a while: then `hasMore` is true and the page is short.
  query: z.strictObject({
    limit: limitParameter({ min: 1, max: 100, otherwise: 50 }),
    cursor: cursorParameter,
    ...filters,
    state: deliveryStateParameter,
  }),
  answers: {
    200: {
      schema: z.object({
        deliveries: z
          .array(
            delivery.extend({
              ...about,
            }),
          )
          .max(100),
        ...nextPage,
      }),
    },
  },
});

/** How many deliveries each choice of the portal's filter has, beside the other filters. */
export const countDeliveries = defineOperation({
  ...deliveries,
  path: '/deliveries/counts',
  query: z.strictObject(filters),
  answers: {
    200: {
      schema: z.object({
        all: boundedCount,
        succeeded: boundedCount,
        held: boundedCount,
        undelivered: undelivered.extend({
          missed: number.meta({
            description: 'Events among them without a delivery; 0 beside other filters.',
          }),
        }),
      }),
    },
  },
});

const waitAnswer = z.object({
  reason: z
    .enum(['paused', 'failing', 'retry', 'paced', 'underway', 'turn'])
    .meta({ description: 'The first that applies.' }),
  sinceUtc: instant.nullable().meta({ description: 'Since when its subscription is paused.' }),
  place: number
    .nullable()
    .meta({ description: 'Among the deliveries that are due; 10,001 is the last counted.' }),
  nextUtc: instant.nullable().meta({ description: 'About when it is attempted next, if that is known.' }),
});

export const getDelivery = defineOperation({
  ...deliveries,
  path: '/deliveries/{eventId}/{subscriptionId}/{replayId}',
  answers: {
    200: {
      schema: delivery.extend({
        ...about,
        wait: waitAnswer.nullable().meta({ description: 'Null unless it waits.' }),
        history: z.array(attemptSummary).meta({ description: 'The first attempt first.' }),
        others: z.array(delivery).max(100),
      }),
    },
  },
});

/** The signed request and the response, for viewers with personal data masked. */
export const getAttempt = defineOperation({
  ...deliveries,
  path: '/deliveries/{eventId}/{subscriptionId}/{replayId}/attempts/{attempt}',
  query: z.strictObject({
    as: z.literal('viewer').optional().meta({ description: 'Masked also for other roles.' }),
  }),
  answers: {
    200: {
      schema: testAttempt.extend({
        attempt: id,
        startedUtc: instant,
        nextAttemptUtc: instant.nullable(),
        request: testAttempt.shape.request.extend({
          body: z.string().nullable().meta({
            description: 'Byte for byte what was signed and sent; null if the event is no longer kept.',
          }),
        }),
        masked: z.boolean().meta({ description: 'Bodies are masked, so they differ from what was signed.' }),
      }),
    },
  },
});

const elapsed = number
  .nullable()
  .meta({ description: 'In milliseconds, from a histogram; null: no attempts.' });
const outcome = { succeeded: number, failed: number, p50Ms: elapsed, p95Ms: elapsed };

/** With a delay of a few seconds. */
export const getDeliveryStats = defineOperation({
  ...deliveries,
  path: '/deliveries/stats',
  query: z.strictObject({ range: rangeParameter }),
  answers: {
    200: {
      schema: z.object({
        total: z.object(outcome),
        points: z.array(z.object({ utc: instant, ...outcome })),
      }),
    },
  },
});
