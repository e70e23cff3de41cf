import { defineEventType, personCreated, samplePerson } from '../shared.ts';

export const leadCreated = defineEventType({
  type: 'lead.created',
  title: 'Lead created',
  description: 'A new lead came in, for example from a web form.',
  payload: personCreated.extend({}),
  sample: (now) => ({ ...samplePerson, status: 'Lead - New', created_date: now }),
});
