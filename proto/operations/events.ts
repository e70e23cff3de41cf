import { z } from 'zod';
import { problem } from '../errors.ts';
import { sampleDelivery, sampleSecret } from '../events/sample.ts';
import { defineOperation } from '../operation.ts';
import { limitParameter, waitParameter } from '../schemas/fields.ts';
import { actionInvalid, recordMissing } from '../schemas/records.ts';
import {
  envelope,
  envelopeExample,
  eventPayload,
  eventWithMeta,
  knownEventType,
  knownEventTypes,
} from '../schemas/webhooks.ts';

const events = {
  audience: 'key',
  service: 'webhooks',
  errorShape: 'general',
  deadlineMs: 5000,
  tag: 'Events',
} as const;

const badCursor = { error: 'invalid cursor' };

export const listEvents = defineOperation({
  ...events,
  method: 'GET',
  path: '/events',
  scope: 'events:read',
  bucket: 'read',
  waitsFor: 'events',
  summary: 'List events',
  description:
    'Lists events, newest first by default. Polling `order=asc` with the last `nextCursor`, at any time, never skips an event. To start from now, send `order=asc&cursor=latest`: the answer is an empty page whose `nextCursor` is at the end of the log. To learn of events within a second or two, poll with `wait=25`. A page can have fewer events than `limit`, or none, if events are large or of a rare type: `hasMore` says whether there are more now.',
  params: {},
  query: z.strictObject({
    limit: limitParameter({ min: 1, max: 1000, otherwise: 25 }),
    cursor: z
      .string()
      .regex(/^[\w-]{1,200}$/, badCursor)
      .optional()
      .meta({
        description: 'The opaque `nextCursor` of an earlier answer, or `latest` with `order=asc`.',
      }),
    type: knownEventTypes.optional(),
    include: z
      .enum(['meta'], { error: 'include must be meta' })
      .optional()
      .meta({ description: '`meta` lists the events as `entries`, each with its `origin` and `sequence`.' }),
    wait: waitParameter.meta({
      description: `${waitParameter.meta()!.description} Needs \`order=asc\`.`,
    }),
    order: z.enum(['desc', 'asc'], { error: 'order must be asc or desc' }).default('desc'),
  }),
  body: null,
  answers: {
    200: {
      description: 'The events, and the cursor of the next page.',
      schema: z.object({
        events: z.array(envelope).max(1000).meta({ description: 'Empty with `include=meta`.' }),
        entries: z.array(eventWithMeta).max(1000).optional().meta({
          description: 'The events, in the place of `events`; only with `include=meta`.',
        }),
        nextCursor: z.string().nullable().meta({
          description:
            'Cursor of the next page. Descending: null at the end. Ascending: never null, since new events may follow.',
        }),
        hasMore: z.boolean(),
      }),
      example: { events: [envelopeExample], nextCursor: 'q3nB0pTq1c5mW2yZ7kLr9A', hasMore: false },
    },
  },
  errors: {
    400: actionInvalid('cursor', 'invalid_characters', 'invalid cursor'),
    410: {
      description:
        'With `order=asc`: events after the cursor were removed, because they are older than the retention period. `oldestUtc` is when the oldest event still in the log was created, or null if the log is empty. Begin again without a cursor.',
      example: {
        error: problem('cursor_expired').publicMessage,
        reason: 'cursor_expired',
        oldestUtc: '2026-01-15T09:30:00.000Z',
      },
    },
  },
});

export const getEvent = defineOperation({
  ...events,
  method: 'GET',
  path: '/events/{id}',
  scope: 'events:read',
  bucket: 'read',
  summary: 'Read one event',
  params: { id: 'ID of the event.' },
  query: null,
  body: null,
  answers: { 200: { description: 'The event.', schema: envelope, example: envelopeExample } },
  errors: { 404: recordMissing('event') },
});

export const listSampleEvents = defineOperation({
  ...events,
  method: 'GET',
  path: '/events/samples',
  scope: 'events:read',
  bucket: 'read',
  summary: 'List sample events',
  description:
    'An example of each event type, whether or not the company has events, to map fields and to test a receiver: `body` is exactly what a delivery would carry, and `headers` are its headers, signed now with `signingSecret`. Post both to your receiver. The samples are not in the event log, and no subscription gets them.',
  params: {},
  query: z.strictObject({
    type: knownEventType.optional().meta({ description: 'Without it, all types.' }),
  }),
  body: null,
  answers: {
    200: {
      description: 'The samples, in the order of the documentation.',
      schema: z.object({
        samples: z.array(
          z.object({
            event: envelope,
            body: z.string().meta({ description: 'The same event, as the bytes that are signed.' }),
            headers: z.record(z.string(), z.string()),
          }),
        ),
        signingSecret: z.string().meta({
          description: 'The same for everybody, and used for samples only. Do not accept it in production.',
        }),
      }),
      example: {
        samples: [sampleDelivery('client.created', 1001, new Date('2026-01-15T09:30:00.000Z'))],
        signingSecret: sampleSecret,
      },
    },
  },
  errors: { 400: actionInvalid('type') },
});

export const createTestEvent = defineOperation({
  ...events,
  method: 'POST',
  repeat: 'once',
  path: '/events/test',
  scope: 'admin',
  bucket: 'admin',
  summary: 'Create a test event',
  description:
    'Creates a real event of the company, delivered to all enabled subscriptions of its type. Without `payload`, the sample payload of the type is used.',
  params: {},
  query: null,
  body: z.strictObject({ type: knownEventType, payload: eventPayload.optional() }),
  bodyExample: { type: 'client.created' },
  answers: {
    202: {
      description: 'The event, and the number of subscriptions it is delivered to.',
      schema: envelope.extend({ subscriptionCount: z.int().min(0) }),
      example: { ...envelopeExample, subscriptionCount: 2 },
    },
  },
  errors: { 400: actionInvalid('type') },
});
