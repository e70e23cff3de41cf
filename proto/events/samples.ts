import type { EventType } from '../events.ts';
import type { EventPayload } from './payloads.ts';

/** A payload of placeholder data, as test deliveries and test events have it. */
export const samplePayload = <Type extends EventType>(type: Type, now: Date): EventPayload<Type> =>
  samples[type](now.toISOString());

const person = {
  client_id: 1042,
  first_name: 'Katherine',
  last_name: 'Johnson',
  email: 'katherine@example.com',
  phone: '+1 555 010 4477',
};
const payment = { payment_id: 7001, client_id: 1042, invoice_id: 3001, amount: 129.5, currency: 'USD' };

const samples: { readonly [Type in EventType]: (now: string) => EventPayload<Type> } = {
  'client.created': (now) => ({ ...person, status: 'Client - Active', created_date: now }),
  'client.status_changed': (now) => ({
    client_id: person.client_id,
    previous_status: 'Lead - Contacted',
    new_status: 'Client - Active',
    changed_by_employee_id: 7,
    status_note: 'Signed today.',
    changed_date: now,
  }),
  'lead.created': (now) => ({ ...person, status: 'Lead - New', created_date: now }),
  'invoice.created': (now) => ({
    invoice_id: payment.invoice_id,
    client_id: person.client_id,
    invoice_number: 'INV-3001',
    amount: payment.amount,
    currency: payment.currency,
    status: 'open',
    due_date: now,
    created_date: now,
  }),
  'invoice.status_changed': (now) => ({
    invoice_id: payment.invoice_id,
    client_id: person.client_id,
    previous_status: 'open',
    new_status: 'paid',
    changed_date: now,
  }),
  'payment.succeeded': (now) => ({ ...payment, payment_method: 'card', paid_date: now }),
  'payment.failed': (now) => ({
    ...payment,
    payment_method: 'card',
    failure_reason: 'The card was declined.',
    failed_date: now,
  }),
  'affiliate.created': (now) => ({
    employee_id: 31,
    first_name: 'Lise',
    last_name: 'Meitner',
    email: 'lise@example.com',
    phone: '+1 555 010 2233',
    affiliate_code: 'K7M2QX9D',
    affiliate_company_name: 'Meitner & Co',
    commission_rate: 12.5,
    is_approved: false,
    created_date: now,
  }),
  'document.uploaded': (now) => ({
    document_id: 8101,
    client_id: person.client_id,
    file_name: 'contract.pdf',
    content_type: 'application/pdf',
    size_bytes: 48_213,
    uploaded_by_employee_id: 7,
    uploaded_date: now,
  }),
  'agreement.signed': (now) => ({
    agreement_id: 9102,
    client_id: person.client_id,
    agreement_name: 'Service agreement',
    signer_name: 'Katherine Johnson',
    signer_email: person.email,
    signed_date: now,
  }),
};
