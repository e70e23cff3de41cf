import { z } from 'zod';
import {
  amount,
  currency,
  defineEventType,
  label,
  recordId,
  samplePayment,
  samplePerson,
  time,
} from '../shared.ts';

export const invoiceCreated = defineEventType({
  type: 'invoice.created',
  title: 'Invoice created',
  description: 'An invoice was written for a client.',
  payload: z.object({
    invoice_id: recordId,
    client_id: recordId,
    invoice_number: label,
    amount,
    currency,
    status: label,
    due_date: time,
    created_date: time,
  }),
  sample: (now) => ({
    invoice_id: samplePayment.invoice_id,
    client_id: samplePerson.client_id,
    invoice_number: 'INV-3001',
    amount: samplePayment.amount,
    currency: samplePayment.currency,
    status: 'open',
    due_date: now,
    created_date: now,
  }),
});
