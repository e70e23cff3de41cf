import { z } from 'zod';
import { errorClasses } from '../delivery-states.ts';
import { defineOperation, memberDefaults } from '../operation.ts';
import { idParameter, limitParameter } from '../schemas/fields.ts';
import { fieldName, id, instant } from '../schemas/values.ts';
import { eventTypeAnswer, knownEventType } from '../schemas/webhooks.ts';
import { instantParameter } from './fields.ts';

const replays = { ...memberDefaults, service: 'webhooks', role: 'developer' } as const;
const number = z.int().min(0);

/** `release` and `drop` act on held deliveries; the others deliver events again. */
export const replayKinds = ['failed', 'missed', 'filter'] as const;
const everyKind = ['resend', ...replayKinds, 'release', 'drop'] as const;
export type ReplayKind = (typeof everyKind)[number];

/** Waiting deliveries are on their way; held ones can be released. */
export const replayedStates = ['failed', 'succeeded', 'dropped'] as const;

export const maxReplayDeliveries = 100_000;

export const replay = z.object({
  id,
  subscriptionId: id,
  kind: z.enum(everyKind),
  filter: z.object({
    eventId: id.optional(),
    since: instant.optional(),
    until: instant.optional(),
    types: z.array(eventTypeAnswer).optional(),
    states: z.array(z.enum(replayedStates)).optional(),
    statusCodes: z.array(z.int()).optional(),
    errorClasses: z.array(z.enum(errorClasses)).optional(),
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

const answer = { schema: replay };

const list = <Item extends z.ZodType>(item: Item) => z.array(item).min(1).max(100).optional();
const when = { until: instantParameter, types: list(knownEventType) };
const since = instantParameter.unwrap();
const request = { subscriptionId: id };

/** Times are those of the events; `until` is exclusive and defaults to now. */
export const replayBody = z.discriminatedUnion('kind', [
  z.strictObject({ ...request, kind: z.literal('failed'), since, ...when }),
  // Events without an attempt, because the subscription was disabled or did not exist yet.
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
    errorClasses: list(z.enum(errorClasses)),
  }),
]);

export const previewReplay = defineOperation({
  ...replays,
  id: 'previewReplay',
  method: 'POST',
  repeat: 'harmless',
  path: '/replays/preview',
  role: 'viewer',
  deadlineMs: 15_000,
  body: replayBody,
  answers: {
    200: {
      schema: z.object({
        count: number,
        estimateSeconds: number.meta({
          description: 'Estimated at a pace that does not delay live traffic.',
        }),
      }),
    },
  },
});

export const listReplays = defineOperation({
  ...replays,
  id: 'listReplays',
  method: 'GET',
  path: '/replays',
  role: 'viewer',
  query: z.strictObject({
    limit: limitParameter({ min: 1, max: 100, otherwise: 25 }),
    subscriptionId: idParameter.optional(),
  }),
  answers: {
    200: {
      schema: z.object({ replays: z.array(replay).max(100) }),
    },
  },
});

/** Its waiting deliveries are dropped. */
export const cancelReplay = defineOperation({
  ...replays,
  id: 'cancelReplay',
  method: 'POST',
  repeat: 'once',
  path: '/replays/{id}/cancel',
  answers: { 200: answer },
  errors: [409],
});
