import { z } from 'zod';
import { errorClasses } from '../delivery-states.ts';
import { defineOperation, memberDefaults } from '../operation.ts';
import { idParameter, limitParameter } from '../schemas/fields.ts';
import { id, instant, rule } from '../schemas/values.ts';
import { eventTypeAnswer, knownEventType } from '../schemas/webhooks.ts';
import { instantParameter } from './fields.ts';

const replays = { ...memberDefaults, service: 'webhooks', role: 'developer' } as const;
const number = z.int().min(0);

/** `release` and `drop` act on held deliveries; the others deliver events again. */
const replayKinds = ['failed', 'missed', 'filter'] as const;
const everyKind = ['resend', ...replayKinds, 'release', 'drop'] as const;
export type ReplayKind = (typeof everyKind)[number];

/** Waiting deliveries are on their way; held ones can be released. */
const replayedStates = ['failed', 'succeeded', 'dropped'] as const;

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

const replayFields = z.strictObject({
  kind: z.enum(replayKinds).meta({
    description:
      '`failed`: events whose last delivery failed. `missed`: events without an attempt, because the subscription was disabled or did not exist yet. `filter`: events by the `states` of their last deliveries.',
  }),
  since: instantParameter.meta({
    description: 'Time of the events. Required unless `kind` is `filter`.',
  }),
  until: instantParameter.meta({ description: 'Excluded. By default now.' }),
  types: z.array(knownEventType).min(1).max(100).optional(),
  states: z.array(z.enum(replayedStates)).min(1).max(replayedStates.length).optional().meta({
    description: 'Required if `kind` is `filter`, and only then allowed.',
  }),
  statusCodes: z.array(z.int().min(100).max(599)).min(1).max(100).optional().meta({
    description: 'Of the last attempts. Only if `kind` is `filter`.',
  }),
});

/** The fields that depend on `kind`. A union would say this too, but not every client generator can express one. */
const replayRule = rule((body) => {
  const { kind, since, until, states } = body;
  const fault = (field: string, code: 'required' | 'must_agree', sentence: string) => ({
    field,
    code,
    message: `${field} ${sentence}`,
  });
  if (since && until && until <= since) return fault('until', 'must_agree', 'must be after since');
  if (kind === 'filter')
    return states === undefined ? fault('states', 'required', 'is required if kind is filter') : undefined;
  if (since === undefined) return fault('since', 'required', 'is required unless kind is filter');
  const astray = ['states', 'statusCodes', 'errorClasses'].find((field) => body[field] !== undefined);
  return astray === undefined ? undefined : fault(astray, 'must_agree', 'needs the kind filter');
});

export const keyReplayBody = replayFields.check(replayRule);

export const replayBody = replayFields
  .extend({
    subscriptionId: id,
    errorClasses: z.array(z.enum(errorClasses)).min(1).max(100).optional(),
  })
  .check(replayRule);

export const previewReplay = defineOperation({
  ...replays,
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
  method: 'POST',
  repeat: 'once',
  path: '/replays/{id}/cancel',
  answers: { 200: answer },
  errors: [409],
});
