import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { idParameter, limitParameter } from '../schemas/query.ts';
import { actionInvalid, recordMissing } from '../schemas/records.ts';
import { fieldName } from '../schemas/text.ts';
import { id, instant } from '../schemas/values.ts';
import { eventTypeAnswer, knownEventType } from '../schemas/webhooks.ts';
import { cursorParameter, instantParameter } from './fields.ts';

const replays = {
  service: 'webhooks',
  role: 'developer',
  deadlineMs: 5000,
  query: null,
  body: null,
  params: {},
} as const;

const one = { id: 'ID of the replay.' } as const;
const ofSubscription = { id: 'ID of the subscription.' } as const;
const missing = recordMissing('replay');
const subscriptionMissing = recordMissing('subscription');
const number = z.int().min(0);

/** `release` and `drop` act on held deliveries; the others deliver events again. */
const replayKinds = ['resend', 'failed', 'missed', 'filter', 'release', 'drop'] as const;
export type ReplayKind = (typeof replayKinds)[number];

/** States whose deliveries can be replayed. Waiting deliveries are on their way; held ones can be released. */
const replayedStates = ['failed', 'succeeded', 'dropped'] as const;

/** Maximum number of deliveries of one replay; larger ones must be split. */
export const maxReplayDeliveries = 100_000;

export const replay = z.object({
  id,
  subscriptionId: id,
  kind: z.enum(replayKinds),
  /** The filter as requested; an absent field does not narrow it. */
  filter: z.object({
    eventId: id.optional(),
    since: instant.optional(),
    until: instant.optional(),
    types: z.array(eventTypeAnswer).optional(),
    states: z.array(z.enum(replayedStates)).optional(),
    statusCodes: z.array(z.int()).optional(),
  }),
  state: z.enum(['running', 'done', 'cancelled']),
  total: number.meta({ description: 'Counted when the replay started.' }),
  made: number.meta({ description: 'Deliveries created, released or discarded so far.' }),
  succeeded: number.meta({ description: 'Of those, delivered.' }),
  failed: number.meta({ description: 'Of those, failed or discarded.' }),
  createdBy: z.string().nullable(),
  createdUtc: instant,
  finishedUtc: instant.nullable(),
});

export const replayExample = {
  id: 7,
  subscriptionId: 42,
  kind: 'failed',
  filter: { since: '2026-01-15T08:00:00.000Z', until: '2026-01-15T09:30:00.000Z' },
  state: 'running',
  total: 1204,
  made: 310,
  succeeded: 255,
  failed: 0,
  createdBy: 'Katherine Johnson',
  createdUtc: '2026-01-15T09:30:00.000Z',
  finishedUtc: null,
} as const;

const answer = { description: 'The replay.', schema: replay, example: replayExample };

const list = <Item extends z.ZodType>(item: Item) => z.array(item).min(1).max(100).optional();
const when = { until: instantParameter, types: list(knownEventType) };
const since = instantParameter.unwrap();
const request = { subscriptionId: id };

/** Times are those of the events; `until` is exclusive and defaults to now. */
const replayBody = z.discriminatedUnion('kind', [
  // Deliveries that have failed for good.
  z.strictObject({ ...request, kind: z.literal('failed'), since, ...when }),
  // Events of the subscription's types without an attempt, because the subscription was disabled or did not exist
  // yet.
  z.strictObject({ ...request, kind: z.literal('missed'), since, ...when }),
  z.strictObject({
    ...request,
    kind: z.literal('filter'),
    since: instantParameter,
    ...when,
    states: z
      .array(
        z.enum(replayedStates, {
          error: `${fieldName} must be one of ${replayedStates.join(', ')}; waiting deliveries are already on their way, and held ones can be released`,
        }),
      )
      .min(1)
      .max(replayedStates.length),
    statusCodes: list(z.int().min(100).max(599)),
  }),
]);

const busy = {
  description: 'The subscription is disabled, a similar replay is in progress, or there is nothing to do.',
  example: { error: 'there is nothing to replay', reason: 'conflict' },
};

export const previewReplay = defineOperation({
  audience: 'member',
  ...replays,
  id: 'previewReplay',
  method: 'POST',
  repeat: 'harmless',
  path: '/replays/preview',
  role: 'viewer',
  deadlineMs: 15_000,
  summary: 'How many deliveries a replay would make, and how long that may take',
  body: replayBody,
  answers: {
    200: {
      description: 'The estimate. Nothing was changed.',
      schema: z.object({
        count: number,
        estimateSeconds: number.meta({
          description: 'Estimated at a pace that does not delay live traffic.',
        }),
      }),
      example: { count: 1204, estimateSeconds: 13 },
    },
  },
  errors: { 400: actionInvalid('since'), 404: subscriptionMissing },
});

export const createReplay = defineOperation({
  audience: 'member',
  ...replays,
  id: 'createReplay',
  method: 'POST',
  repeat: 'once',
  path: '/replays',
  deadlineMs: 15_000,
  summary: 'Deliver again; replays count neither as consecutive failures nor as first attempts',
  body: replayBody,
  answers: { 201: answer },
  errors: { 400: actionInvalid('since'), 404: subscriptionMissing, 409: busy },
});

export const listReplays = defineOperation({
  audience: 'member',
  ...replays,
  id: 'listReplays',
  method: 'GET',
  path: '/replays',
  role: 'viewer',
  summary: 'Replays, the newest first',
  query: z.strictObject({
    limit: limitParameter({ min: 1, max: 100, otherwise: 25 }),
    cursor: cursorParameter,
    subscriptionId: idParameter.optional(),
  }),
  answers: {
    200: {
      description: 'The replays, and the cursor of the next page.',
      schema: z.object({
        replays: z.array(replay).max(100),
        nextCursor: z.string().nullable(),
        hasMore: z.boolean(),
      }),
      example: { replays: [replayExample], nextCursor: null, hasMore: false },
    },
  },
  errors: { 400: actionInvalid('cursor', 'invalid cursor') },
});

export const getReplay = defineOperation({
  audience: 'member',
  ...replays,
  id: 'getReplay',
  method: 'GET',
  path: '/replays/{id}',
  role: 'viewer',
  params: one,
  summary: 'One replay and its progress',
  answers: { 200: answer },
  errors: { 404: missing },
});

export const cancelReplay = defineOperation({
  audience: 'member',
  ...replays,
  id: 'cancelReplay',
  method: 'POST',
  repeat: 'once',
  path: '/replays/{id}/cancel',
  params: one,
  summary: 'Cancel a replay; its waiting deliveries are dropped',
  answers: {
    200: { ...answer, example: { ...replayExample, state: 'cancelled' } },
  },
  errors: {
    404: missing,
    409: {
      description: 'The replay has already ended.',
      example: { error: 'the replay has already ended', reason: 'conflict' },
    },
  },
});

export const countHeld = defineOperation({
  audience: 'member',
  ...replays,
  id: 'countHeld',
  method: 'GET',
  path: '/subscriptions/{id}/held',
  role: 'viewer',
  params: ofSubscription,
  summary: 'How many deliveries are held',
  answers: {
    200: {
      description: 'The count, and the release or discard in progress.',
      schema: z.object({ held: number, replay: replay.nullable() }),
      example: { held: 310, replay: null },
    },
  },
  errors: { 404: subscriptionMissing },
});

export const releaseHeld = defineOperation({
  audience: 'member',
  ...replays,
  id: 'releaseHeld',
  method: 'POST',
  repeat: 'once',
  path: '/subscriptions/{id}/held/release',
  params: ofSubscription,
  summary: 'Release held deliveries, at a pace that does not delay live traffic',
  answers: { 201: { ...answer, example: { ...replayExample, kind: 'release', filter: {}, succeeded: 0 } } },
  errors: { 404: subscriptionMissing, 409: busy },
});

export const discardHeld = defineOperation({
  audience: 'member',
  ...replays,
  id: 'discardHeld',
  method: 'POST',
  repeat: 'once',
  path: '/subscriptions/{id}/held/drop',
  params: ofSubscription,
  summary: 'Discard held deliveries; they can still be replayed',
  answers: { 201: { ...answer, example: { ...replayExample, kind: 'drop', filter: {}, succeeded: 0 } } },
  errors: { 404: subscriptionMissing, 409: busy },
});
