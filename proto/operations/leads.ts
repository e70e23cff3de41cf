import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import * as f from '../schemas/fields.ts';
import * as r from '../schemas/records.ts';
import { action } from '../schemas/records.ts';

export const createLead = defineOperation({
  ...action,
  method: 'POST',
  path: '/integrations/leads',
  tag: 'Leads',
  summary: 'Create a lead',
  description:
    'Without `status` the lead starts as `Lead - New`. If a record with the same external_id exists, the sent fields are applied to it instead; the status of a client does not change.',
  params: {},
  body: z.strictObject({
    first_name: f.personName,
    last_name: f.personName,
    email: f.email,
    phone: f.optionalPhone,
    status: f.statusReference.nullish(),
    employee_id: f.optionalRecordId,
    ...f.personDetails,
    package_keyword: f.packageKeyword,
    affiliate_id: f.optionalRecordId,
    external_id: f.externalId,
  }),
  bodyExample: {
    first_name: 'Katherine',
    last_name: 'Johnson',
    email: 'katherine@example.com',
    phone: '+1 555 010 4477',
    package_keyword: 'starter',
    external_id: 'crm-88',
  },
  answers: r.createdOrUpdated(
    ['The lead', 'A record'],
    r.personCreated,
    r.personCreatedExample('Lead - New'),
    r.personCreatedExample('Lead - Contacted'),
  ),
  errors: { 400: r.actionInvalid('first_name') },
});

export const updateLead = defineOperation({
  ...action,
  method: 'PATCH',
  path: '/integrations/leads/{client_id}',
  tag: 'Leads',
  summary: 'Update a lead',
  description:
    'Only the sent fields change. null clears an optional field. Answers 404 unless the record is a lead.',
  params: r.clientPath,
  body: r.updateOfKind,
  bodyExample: { phone: '+1 555 010 4478', city: null },
  answers: { 200: { description: 'Updated.', schema: r.personUpdated, example: r.personUpdatedExample } },
  errors: { 400: r.externalIdTaken, 404: r.recordMissing('lead') },
});

export const updateLeadStatus = defineOperation({
  ...action,
  method: 'PATCH',
  path: '/integrations/leads/{client_id}/status',
  tag: 'Leads',
  summary: 'Change the status of a lead',
  description:
    'Takes a lead status, by ID or name; if both are sent, they must agree. Setting the status the lead already has answers 200 and changes nothing.',
  params: r.clientPath,
  body: r.changeStatus,
  bodyExample: { new_status: 'Lead - Contacted', status_note: 'Called back.' },
  answers: {
    200: {
      description: 'The previous and the new status.',
      schema: r.statusChanged,
      example: {
        previous_status: 'Lead - New',
        new_status: 'Lead - Contacted',
        updated_utc: '2026-01-15T09:31:00.000Z',
        version: 2,
      },
    },
  },
  errors: {
    400: r.actionInvalid('new_status', 'required', 'new_status or new_status_id is required'),
    404: r.recordMissing('lead'),
  },
});
