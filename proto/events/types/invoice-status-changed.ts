import { z } from 'zod';
import { defineEventType, label, recordId, samplePayment, samplePerson, time } from '../shared.ts';

export const invoiceStatusChanged = defineEventType({
  type: 'invoice.status_changed',
  title: 'Invoice status changed',
  description: 'An invoice was sent, paid, or became overdue.',
  payload: z.object({
    invoice_id: recordId,
    client_id: recordId,
    previous_status: label,
    new_status: label,
    changed_date: time,
  }),
  sample: (now) => ({
    invoice_id: samplePayment.invoice_id,
    client_id: samplePerson.client_id,
    previous_status: 'open',
    new_status: 'paid',
    changed_date: now,
  }),
});
