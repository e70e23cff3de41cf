import { z } from 'zod';
import { id, instant } from '../../schemas/values.ts';
import { defineEventType, samplePerson, text } from '../shared.ts';

export const agreementSigned = defineEventType({
  type: 'agreement.signed',
  title: 'Agreement signed',
  description: 'A client signed an agreement.',
  payload: z.object({
    agreement_id: id,
    client_id: id,
    agreement_name: text,
    signer_name: text,
    signer_email: text,
    signed_date: instant,
  }),
  sample: (now) => ({
    agreement_id: 9102,
    client_id: samplePerson.client_id,
    agreement_name: 'Service agreement',
    signer_name: 'Katherine Johnson',
    signer_email: samplePerson.email,
    signed_date: now,
  }),
});
