import { z } from 'zod';
import { id, instant } from '../../schemas/values.ts';
import { amount, currency, defineEventType, samplePayment, samplePerson, text } from '../shared.ts';

export const invoiceCreated = defineEventType({
  type: 'invoice.created',
  title: 'Invoice created',
  description: 'An invoice was written for a client.',
  payload: z.object({
    invoice_id: id,
    client_id: id,
    invoice_number: text,
    amount,
    currency,
    status: text,
    due_date: instant,
    created_date: instant,
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
