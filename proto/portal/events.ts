import { z } from 'zod';
import { eventDefinitions, eventTypes, samplePayload } from '../events.ts';
import { defineOperation, memberDefaults } from '../operation.ts';
import { limitParameter } from '../schemas/fields.ts';
import { envelope, knownEventType } from '../schemas/webhooks.ts';
import { cursorParameter, nextPage, recordParameters } from './fields.ts';

const events = { ...memberDefaults, service: 'webhooks', role: 'viewer' } as const;

const portalEvent = envelope.extend({
  origin: z.string().nullable().meta({ description: 'Who caused it (contract, "Changes"), if known.' }),
});

/** For viewers with personal data masked. */
export const listPortalEvents = defineOperation({
  ...events,
  method: 'GET',
  path: '/events',
  query: z.strictObject({
    limit: limitParameter({ min: 1, max: 100, otherwise: 50 }),
    cursor: cursorParameter,
    type: knownEventType.optional(),
    ...recordParameters,
  }),
  answers: {
    200: {
      schema: z.object({
        events: z.array(portalEvent).max(100),
        ...nextPage,
      }),
    },
  },
});

export const getPortalEvent = defineOperation({
  ...events,
  method: 'GET',
  path: '/events/{id}',
  answers: { 200: { schema: portalEvent } },
});

const objectValue = z.record(z.string(), z.unknown());

export const listEventTypes = defineOperation({
  ...memberDefaults,
  service: 'access',
  method: 'GET',
  path: '/event-types',
  role: 'viewer',
  answers: {
    200: {
      schema: z.object({
        eventTypes: z.array(
          z.object({
            type: z.enum(eventTypes),
            title: z.string(),
            description: z.string(),
            schema: objectValue.meta({ description: 'JSON Schema (2020-12).' }),
            sample: objectValue,
          }),
        ),
      }),
    },
  },
});

export const eventCatalog = (now: Date) =>
  eventTypes.map((type) => {
    const { title, description, payload } = eventDefinitions[type];
    const { $schema, ...schema } = z.toJSONSchema(payload, { io: 'input' });
    return { type, title, description, schema, sample: samplePayload(type, now) };
  });
