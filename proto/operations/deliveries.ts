import { z } from 'zod';
import { deliveryStates, errorClasses } from '../delivery-states.ts';
import { defineOperation } from '../operation.ts';
import { delivery, deliveryStateParameter } from '../portal/deliveries.ts';
import { cursorParameter, instantParameter, nextPage } from '../portal/fields.ts';
import { keyReplayBody, replay, replayBody } from '../portal/replays.ts';
import { limitParameter } from '../schemas/fields.ts';
import { actionInvalid, recordMissing, subscriptionPath } from '../schemas/records.ts';
import { id, instant } from '../schemas/values.ts';
import { eventTypeAnswer } from '../schemas/webhooks.ts';

const key = { scope: 'webhooks:write', errorShape: 'general', tag: 'Webhook subscriptions' } as const;
const shared = { service: 'webhooks', deadlineMs: 5000, query: null, body: null } as const;
const reads = { ...shared, ...key, audience: 'key', method: 'GET', bucket: 'read' } as const;

const path = '/webhooks/subscriptions/{id}';
const missing = recordMissing('subscription');
const badCursor = actionInvalid('cursor', 'invalid_characters', 'invalid cursor');

const { subscription: _, ...deliveryShape } = delivery.shape;

const deliveryExample = {
  id: '90071-42-0',
  eventId: 90_071,
  subscriptionId: 42,
  replayId: 0,
  eventType: 'client.created',
  eventCreatedUtc: '2026-01-15T09:30:00.000Z',
  state: 'failed',
  attempts: 11,
  dueUtc: null,
  lastStatusCode: 500,
  lastErrorClass: errorClasses.find((one) => one === 'status')!,
  updatedUtc: '2026-01-16T00:45:00.000Z',
};

export const listSubscriptionDeliveries = defineOperation({
  ...reads,
  path: `${path}/deliveries`,
  summary: 'List the deliveries of a subscription',
  description:
    'Those of the newest events first. A delivery that is under way for the first time is listed once its first attempt has ended. A page can have fewer deliveries than `limit`, or none, while `hasMore` is true.',
  params: subscriptionPath,
  query: z.strictObject({
    state: deliveryStateParameter,
    limit: limitParameter({ min: 1, max: 100, otherwise: 25 }),
    cursor: cursorParameter,
  }),
  answers: {
    200: {
      description: 'The deliveries, and the cursor of the next page.',
      schema: z.object({
        deliveries: z.array(z.object(deliveryShape)).max(100),
        ...nextPage,
      }),
      example: { deliveries: [deliveryExample], nextCursor: null, hasMore: false },
    },
  },
  errors: { 400: badCursor, 404: missing },
});

export const listMissingEvents = defineOperation({
  ...reads,
  path: `${path}/missing`,
  summary: 'List the events that a subscription lacks',
  description:
    'The events of the subscription’s present types that have no successful delivery to it, in the order of commits. So every other event of these types, since `since` and up to the number `throughSequence`, has arrived: its receiver answered 2xx. An event whose first attempt is under way is listed too. A page can have fewer events than `limit`, or none, while `hasMore` is true.',
  params: subscriptionPath,
  query: z.strictObject({
    since: instantParameter.meta({
      description: 'Events created at this time or later. By default, since the subscription was created.',
    }),
    limit: limitParameter({ min: 1, max: 1000, otherwise: 100 }),
    cursor: cursorParameter,
  }),
  answers: {
    200: {
      description: 'The events, and the cursor of the next page.',
      schema: z.object({
        missing: z
          .array(
            z.object({
              eventId: id,
              eventType: eventTypeAnswer,
              eventCreatedUtc: instant,
              sequence: z.int().min(1),
              state: z.enum(deliveryStates).nullable().meta({
                description: 'Of its last delivery. Null: it has none, or its first attempt is under way.',
              }),
              attempts: z.int().min(0),
            }),
          )
          .max(1000),
        throughSequence: z.int().min(0).meta({
          description: 'The number of the last event that was looked at, of any type; 0 if there is none.',
        }),
        ...nextPage,
      }),
      example: {
        missing: [
          {
            eventId: 90_071,
            eventType: 'client.created',
            eventCreatedUtc: '2026-01-15T09:30:00.000Z',
            sequence: 7301,
            state: 'failed',
            attempts: 11,
          },
        ],
        throughSequence: 7344,
        nextCursor: null,
        hasMore: false,
      },
    },
  },
  errors: { 400: badCursor, 404: missing },
});

const replayAnswer = replay.omit({ createdBy: true });
const replayExample = {
  id: 7,
  subscriptionId: 42,
  kind: 'filter',
  filter: {
    since: '2026-01-15T00:00:00.000Z',
    until: '2026-01-16T09:30:00.000Z',
    states: ['succeeded', 'failed'],
  },
  state: 'running',
  total: 310,
  made: 0,
  succeeded: 0,
  failed: 0,
  createdUtc: '2026-01-16T09:30:00.000Z',
  finishedUtc: null,
};

/** Replays count neither as consecutive failures nor as first attempts. */
export const createReplay = defineOperation({
  ...shared,
  method: 'POST',
  repeat: 'once',
  deadlineMs: 15_000,
  callers: {
    key: {
      ...key,
      id: 'createSubscriptionReplay',
      path: `${path}/replays`,
      bucket: 'admin',
      summary: 'Deliver events again',
      description:
        'Makes a new delivery of each of the events, oldest first and no faster than the receiver takes them, alongside live traffic. Its header `X-Webhook-Replay` has the ID of the replay. At most 100,000 deliveries. Also works for a subscription that is managed by a tool.',
      params: subscriptionPath,
      body: keyReplayBody,
      bodyExample: { kind: 'filter', since: '2026-01-15T00:00:00.000Z', states: ['succeeded', 'failed'] },
      answers: {
        201: { description: 'The replay.', schema: replayAnswer, example: replayExample },
      },
      errors: {
        400: actionInvalid('since', 'required', 'since is required unless kind is filter'),
        404: missing,
        409: {
          description: 'The subscription is disabled, another replay of it is running, or nothing matches.',
          example: { error: 'there is nothing to replay' },
        },
      },
    },
    member: {
      path: '/replays',
      role: 'developer',
      body: replayBody,
      answers: { 201: { schema: replay } },
      errors: [409],
    },
  },
});

export const getReplay = defineOperation({
  ...shared,
  method: 'GET',
  callers: {
    key: {
      ...key,
      id: 'getSubscriptionReplay',
      path: '/webhooks/replays/{id}',
      bucket: 'read',
      summary: 'Read one replay',
      description: 'Once `state` is `done`, each of its deliveries has succeeded or failed.',
      params: { id: 'ID of the replay.' },
      answers: { 200: { description: 'The replay.', schema: replayAnswer, example: replayExample } },
      errors: { 404: recordMissing('replay') },
    },
    member: { path: '/replays/{id}', role: 'viewer', answers: { 200: { schema: replay } }, errors: [] },
  },
});
