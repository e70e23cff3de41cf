import { z } from 'zod';
import type { EventType } from '../events.ts';
import { id, instant } from '../schemas/values.ts';

/**
 * What the payload of each event type holds (contract, "Events"). They are left
 * open: a field may be added, and receivers pass over what they do not know.
 */

const text = z.string();
const textOrNone = text.nullable();
const amount = z.number().meta({ description: 'In units of the currency, such as 129.5.' });
const currency = text.meta({ description: 'ISO 4217, such as `USD`.' });
const employeeOrNone = id.nullable().meta({ description: 'ID of the employee who did it, where known.' });

/** The interface's own sample, field for field. */
const personCreated = z.object({
  client_id: id,
  first_name: text,
  last_name: text,
  email: text,
  phone: text.meta({ description: 'Empty where the record has none.' }),
  status: text,
  created_date: instant,
});

const payment = z.object({
  payment_id: id,
  client_id: id,
  invoice_id: id.nullable(),
  amount,
  currency,
  payment_method: text,
});

export const eventPayloads = {
  'client.created': personCreated,
  'client.status_changed': z.object({
    client_id: id,
    previous_status: text,
    new_status: text,
    changed_by_employee_id: employeeOrNone,
    status_note: textOrNone,
    changed_date: instant,
  }),
  'lead.created': personCreated.extend({}),
  'invoice.created': z.object({
    invoice_id: id,
    client_id: id,
    invoice_number: text,
    amount,
    currency,
    status: text,
    due_date: instant,
    created_date: instant,
  }),
  'invoice.status_changed': z.object({
    invoice_id: id,
    client_id: id,
    previous_status: text,
    new_status: text,
    changed_date: instant,
  }),
  'payment.succeeded': payment.extend({ paid_date: instant }),
  'payment.failed': payment.extend({ failure_reason: text, failed_date: instant }),
  'affiliate.created': z.object({
    employee_id: id,
    first_name: text,
    last_name: text,
    email: text,
    phone: text.meta({ description: 'Empty where the affiliate has none.' }),
    affiliate_code: text,
    affiliate_company_name: textOrNone,
    commission_rate: z.number().nullable().meta({ description: 'Per cent.' }),
    is_approved: z.boolean(),
    created_date: instant,
  }),
  'document.uploaded': z.object({
    document_id: id,
    client_id: id,
    file_name: text,
    content_type: text,
    size_bytes: z.int().min(0),
    uploaded_by_employee_id: employeeOrNone,
    uploaded_date: instant,
  }),
  'agreement.signed': z.object({
    agreement_id: id,
    client_id: id,
    agreement_name: text,
    signer_name: text,
    signer_email: text,
    signed_date: instant,
  }),
} as const satisfies Readonly<Record<EventType, z.ZodType>>;

export type EventPayload<Type extends EventType> = z.output<(typeof eventPayloads)[Type]>;
