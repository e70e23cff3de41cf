import { z } from 'zod';
import { eventDefinitions, eventTypes, samplePayload } from '../events.ts';
import { defineOperation } from '../operation.ts';

const objectValue = z.record(z.string(), z.unknown());

export const listEventTypes = defineOperation({
  audience: 'member',
  service: 'access',
  id: 'listEventTypes',
  method: 'GET',
  path: '/event-types',
  role: 'viewer',
  deadlineMs: 5000,
  summary: 'List the event types with a description, the schema of the payload and a sample',
  params: {},
  query: null,
  body: null,
  answers: {
    200: {
      description: 'The types, in the order of the documentation.',
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
      example: {
        eventTypes: [
          {
            type: 'document.uploaded',
            title: 'Document uploaded',
            description: 'A document was added to a client’s record.',
            schema: { type: 'object' },
            sample: { document_id: 8101 },
          },
        ],
      },
    },
  },
  errors: {},
});

/** The catalog of event types as the portal shows it. */
export const eventCatalog = (now: Date) =>
  eventTypes.map((type) => {
    const { title, description, payload } = eventDefinitions[type];
    const { $schema, ...schema } = z.toJSONSchema(payload, { io: 'input' });
    return { type, title, description, schema, sample: samplePayload(type, now) };
  });
