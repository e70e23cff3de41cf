import { defineEventType, personCreated, samplePerson } from '../shared.ts';

export const clientCreated = defineEventType({
  type: 'client.created',
  title: 'Client created',
  description: 'A client was added: by hand, by an import or through the interface.',
  payload: personCreated,
  sample: (now) => ({ ...samplePerson, status: 'Client - Active', created_date: now }),
});
