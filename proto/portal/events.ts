import { z } from 'zod';
import { defineOperation, maxBodyBytes, memberDefaults } from '../operation.ts';
import { createTestEvent } from '../operations/events.ts';
import { limitParameter } from '../schemas/query.ts';
import { envelope, knownEventType } from '../schemas/webhooks.ts';
import { cursorParameter } from './fields.ts';

const events = { ...memberDefaults, service: 'webhooks', role: 'viewer' } as const;

/** The company’s events, the newest first, for viewers with personal data masked. */
export const listPortalEvents = defineOperation({
  ...events,
  id: 'listPortalEvents',
  method: 'GET',
  path: '/events',
  query: z.strictObject({
    limit: limitParameter({ min: 1, max: 100, otherwise: 50 }),
    cursor: cursorParameter,
    type: knownEventType.optional(),
  }),
  answers: {
    200: {
      schema: z.object({
        events: z.array(envelope).max(100),
        nextCursor: z.string().nullable(),
        hasMore: z.boolean(),
      }),
    },
  },
});

export const getPortalEvent = defineOperation({
  ...events,
  id: 'getPortalEvent',
  method: 'GET',
  path: '/events/{id}',
  answers: { 200: { schema: envelope } },
});

/** Creates a real event, delivered to all subscriptions of its type. */
export const createPortalTestEvent = defineOperation({
  ...events,
  id: 'createPortalTestEvent',
  method: 'POST',
  repeat: 'once',
  path: '/events/test',
  role: 'developer',
  body: createTestEvent.body,
  maxBodyBytes,
  answers: createTestEvent.answers,
});
