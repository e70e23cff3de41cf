import { z } from 'zod';
import { id, instant } from '../../schemas/values.ts';
import { defineEventType, samplePayment, samplePerson, text } from '../shared.ts';

export const invoiceStatusChanged = defineEventType({
  type: 'invoice.status_changed',
  title: 'Invoice status changed',
  description: 'An invoice was sent, paid, or became overdue.',
  payload: z.object({
    invoice_id: id,
    client_id: id,
    previous_status: text,
    new_status: text,
    changed_date: instant,
  }),
  sample: (now) => ({
    invoice_id: samplePayment.invoice_id,
    client_id: samplePerson.client_id,
    previous_status: 'open',
    new_status: 'paid',
    changed_date: now,
  }),
});
