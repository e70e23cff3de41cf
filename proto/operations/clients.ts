import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import * as f from '../schemas/fields.ts';
import * as r from '../schemas/records.ts';
import { action } from '../schemas/records.ts';

export const createClient = defineOperation({
  ...action,
  operationId: 'createClientRecord',
  method: 'POST',
  path: '/integrations/clients',
  tag: 'Clients',
  summary: 'Create a client',
  description:
    "Without `status` the client gets the company's default client status. If a record with the same external_id exists, the sent fields are applied to it instead, and a lead becomes a client.",
  params: {},
  body: z.strictObject({
    first_name: f.personName,
    last_name: f.personName,
    email: f.email,
    phone: f.optionalPhone,
    status: f.statusReference.nullish(),
    employee_id: f.optionalRecordId,
    ...f.personDetails,
    affiliate_id: f.optionalRecordId,
    external_id: f.externalId,
  }),
  elsewhere: { package_keyword: 'only POST /integrations/leads takes it' },
  bodyExample: {
    first_name: 'Katherine',
    last_name: 'Johnson',
    email: 'katherine@example.com',
    status: 'Client - Active',
    external_id: 'crm-88',
  },
  answers: r.createdOrUpdated(
    ['The client', 'A record'],
    r.personCreated,
    r.personCreatedExample('Client - Active'),
  ),
  errors: { 400: r.actionInvalid('email', 'email_invalid', 'email must be one valid email address') },
});

export const updateClient = defineOperation({
  ...action,
  method: 'PATCH',
  path: '/integrations/clients/{client_id}',
  tag: 'Clients',
  summary: 'Update a client',
  description:
    'Only the sent fields change. null clears an optional field. Answers 404 unless the record is a client.',
  params: r.clientPath,
  body: r.updateOfKind,
  bodyExample: { employee_id: 7, external_id: 'crm-89' },
  answers: { 200: { description: 'Updated.', schema: r.personUpdated, example: r.personUpdatedExample } },
  errors: { 400: r.externalIdTaken, 404: r.recordMissing('client') },
});

export const updateClientStatus = defineOperation({
  ...action,
  method: 'PATCH',
  path: '/integrations/clients/{client_id}/status',
  tag: 'Clients',
  summary: 'Change the status of a client, or convert a lead to a client',
  description:
    'Takes any status that is not a lead status, by ID or name; if both are sent, they must agree. A lead is converted to a client. Setting the status the client already has answers 200 and changes nothing.',
  params: r.clientPath,
  body: r.changeStatus,
  bodyExample: { new_status_id: 20, changed_by_employee_id: 7 },
  answers: {
    200: {
      description: 'The previous and the new status.',
      schema: r.statusChanged,
      example: {
        previous_status: 'Lead - Contacted',
        new_status: 'Client - Active',
        updated_utc: '2026-01-15T09:31:00.000Z',
        version: 2,
      },
    },
  },
  errors: {
    400: r.actionInvalid('new_status', 'required', 'new_status or new_status_id is required'),
    404: r.recordMissing('client'),
  },
});

export const addClientNote = defineOperation({
  ...action,
  method: 'POST',
  path: '/integrations/clients/{client_id}/notes',
  tag: 'Clients',
  summary: 'Add a note to a lead or client',
  description: 'If a note with the same external_id exists, it is updated instead.',
  params: r.clientPath,
  body: r.noteBody,
  bodyExample: { text: 'Prefers to be called in the morning.', note_type: 'call' },
  answers: r.createdOrUpdated(['The note', 'A note'], r.noteCreated, {
    client_note_id: 501,
    created_utc: '2026-01-15T09:32:00.000Z',
    version: 1,
  }),
  errors: { 400: r.actionInvalid('text'), 404: r.recordMissing('client') },
});
