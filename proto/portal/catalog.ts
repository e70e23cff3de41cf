import { z } from 'zod';
import { eventDefinitions, eventTypes, samplePayload } from '../events.ts';
import { defineOperation, memberDefaults } from '../operation.ts';

const objectValue = z.record(z.string(), z.unknown());

export const listEventTypes = defineOperation({
  ...memberDefaults,
  service: 'access',
  id: 'listEventTypes',
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

/** The catalog of event types as the portal shows it. */
export const eventCatalog = (now: Date) =>
  eventTypes.map((type) => {
    const { title, description, payload } = eventDefinitions[type];
    const { $schema, ...schema } = z.toJSONSchema(payload, { io: 'input' });
    return { type, title, description, schema, sample: samplePayload(type, now) };
  });
