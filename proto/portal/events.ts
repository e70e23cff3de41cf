import { z } from 'zod';
import { defineOperation, maxBodyBytes } from '../operation.ts';
import { createTestEvent } from '../operations/events.ts';
import { limitParameter } from '../schemas/query.ts';
import { actionInvalid, recordMissing } from '../schemas/records.ts';
import { envelope, envelopeExample, knownEventType } from '../schemas/webhooks.ts';
import { cursorParameter } from './fields.ts';

const events = { service: 'webhooks', role: 'viewer', deadlineMs: 5000, query: null, params: {} } as const;

export const listPortalEvents = defineOperation({
  audience: 'member',
  ...events,
  id: 'listPortalEvents',
  method: 'GET',
  path: '/events',
  summary: 'The company’s events, the newest first',
  query: z.strictObject({
    limit: limitParameter({ min: 1, max: 100, otherwise: 50 }),
    cursor: cursorParameter,
    type: knownEventType.optional(),
  }),
  body: null,
  answers: {
    200: {
      description:
        'The events, and the cursor of the next page. Viewers get payloads with personal data masked.',
      schema: z.object({
        events: z.array(envelope).max(100),
        nextCursor: z.string().nullable(),
        hasMore: z.boolean(),
      }),
      example: { events: [envelopeExample], nextCursor: null, hasMore: false },
    },
  },
  errors: { 400: actionInvalid('cursor', 'invalid cursor') },
});

export const getPortalEvent = defineOperation({
  audience: 'member',
  ...events,
  id: 'getPortalEvent',
  method: 'GET',
  path: '/events/{id}',
  params: { id: 'ID of the event.' },
  summary: 'One event',
  body: null,
  answers: { 200: { description: 'The event.', schema: envelope, example: envelopeExample } },
  errors: { 404: recordMissing('event') },
});

export const createPortalTestEvent = defineOperation({
  audience: 'member',
  ...events,
  id: 'createPortalTestEvent',
  method: 'POST',
  repeat: 'once',
  path: '/events/test',
  role: 'developer',
  summary: 'Create a real event, delivered to all subscriptions of its type',
  body: createTestEvent.body,
  maxBodyBytes,
  answers: createTestEvent.answers,
  errors: { 400: actionInvalid('type') },
});
