import { z } from 'zod';
import { defineEventType, recordId, samplePerson, text, time } from '../shared.ts';

export const agreementSigned = defineEventType({
  type: 'agreement.signed',
  title: 'Agreement signed',
  description: 'A client signed an agreement.',
  payload: z.object({
    agreement_id: recordId,
    client_id: recordId,
    agreement_name: text,
    signer_name: text,
    signer_email: text,
    signed_date: time,
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
