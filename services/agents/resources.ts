import { readFileSync } from 'node:fs';
import { eventCatalog, eventTypes, sampleDelivery } from '@causeway/proto';

export interface AgentResource {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  readonly text: () => string;
}

/** The same for everybody: from no record. */
export const agentResources: readonly AgentResource[] = [
  {
    uri: 'causeway://contract',
    name: 'contract',
    title: 'Contract',
    description: 'Every rule of the interface: fields, limits, errors, events and deliveries.',
    mimeType: 'text/markdown',
    text: () => readFileSync(new URL('../../proto/CONTRACT.md', import.meta.url), 'utf8'),
  },
  {
    uri: 'causeway://event-types',
    name: 'event-types',
    title: 'Event types',
    description: 'The event types to subscribe to, with what causes them and a sample payload.',
    mimeType: 'application/json',
    text: () => JSON.stringify(eventCatalog(new Date())),
  },
  {
    uri: 'causeway://event-samples',
    name: 'event-samples',
    title: 'Event samples',
    description:
      'A delivery of each event type as a receiver gets it: body and headers, signed with a published secret.',
    mimeType: 'application/json',
    text: () => JSON.stringify(eventTypes.map((type) => sampleDelivery(type, 1001, new Date()))),
  },
];
