import { z } from 'zod';
import { eventPayloads } from '../events/payloads.ts';
import { samplePayload } from '../events/samples.ts';
import { type EventType, eventTypes } from '../events.ts';
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
  summary: 'Every event type in plain words, with the schema of its payload and a sample',
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
    const { $schema, ...schema } = z.toJSONSchema(eventPayloads[type], { io: 'input' });
    return { type, ...words[type], schema, sample: samplePayload(type, now) };
  });

const words: Readonly<Record<EventType, { readonly title: string; readonly description: string }>> = {
  'client.created': {
    title: 'Client created',
    description: 'A client was added: by hand, by an import or through the interface.',
  },
  'client.status_changed': {
    title: 'Client status changed',
    description: 'A client moved to another status, or a lead became a client.',
  },
  'lead.created': {
    title: 'Lead created',
    description: 'A new lead came in, for example from a web form.',
  },
  'invoice.created': { title: 'Invoice created', description: 'An invoice was written for a client.' },
  'invoice.status_changed': {
    title: 'Invoice status changed',
    description: 'An invoice was sent, paid, or became overdue.',
  },
  'payment.succeeded': { title: 'Payment succeeded', description: 'A client’s payment went through.' },
  'payment.failed': {
    title: 'Payment failed',
    description: 'A client’s payment was refused; the payload says why.',
  },
  'affiliate.created': {
    title: 'Affiliate created',
    description: 'An affiliate was added and awaits approval.',
  },
  'document.uploaded': {
    title: 'Document uploaded',
    description: 'A document was added to a client’s record.',
  },
  'agreement.signed': { title: 'Agreement signed', description: 'A client signed an agreement.' },
};
