import { z } from 'zod';
import type { DetailCode } from '../errors.ts';
import { noFieldToChange, readOnly } from '../parse/read-only.ts';
import * as f from './fields.ts';
import { id, instant, rule } from './values.ts';

/** `parseBody` compares it with the path and drops it. */
export const pathId = f.recordId.optional().meta({ description: 'May be repeated if it equals the path’s.' });

export const clientPath = { client_id: 'ID of the lead or client.' } as const;
export const subscriptionPath = { id: 'ID of the subscription.' } as const;
export const affiliatePath = { employee_id: "The affiliate's employee ID." } as const;

export const setsSomething = rule((body, issues) =>
  issues.length > 0 || Object.values(body).some((value) => value !== undefined)
    ? undefined
    : { code: 'empty_update', message: noFieldToChange },
);

const personChanges = {
  first_name: f.personName.optional(),
  last_name: f.personName.optional(),
  email: f.email.optional(),
  phone: f.optionalPhone,
  ...f.personDetails,
  employee_id: f.optionalRecordId,
  affiliate_id: f.optionalRecordId,
};
const readOnlyOfPerson = readOnly(
  'package_keyword',
  'status_id',
  'is_lead',
  'created_utc',
  'updated_utc',
  'version',
);
const update = <Shape extends z.ZodRawShape>(fields: Shape) =>
  z.strictObject(fields).check(setsSomething).meta({ minProperties: 1 });

export const updateOfKind = update({
  client_id: pathId,
  ...personChanges,
  external_id: f.externalId,
  ...readOnly('status'),
  ...readOnlyOfPerson,
});
const changesOfEitherKind = {
  ...personChanges,
  status: f.statusReference.optional(),
  ...readOnlyOfPerson,
};
export const updatePerson = update({
  client_id: pathId,
  external_id: f.externalId,
  ...changesOfEitherKind,
});
export const updateNamedPerson = update({
  ...changesOfEitherKind,
  ...readOnly('client_id', 'external_id'),
});

export const updateAffiliateBody = update({
  employee_id: pathId,
  first_name: f.personName.optional(),
  last_name: f.personName.optional(),
  email: f.email.optional(),
  phone: f.optionalPhone,
  affiliate_company_name: f.affiliateCompanyName,
  commission_rate: f.commissionRate,
  is_active: f.flag.optional(),
  is_approved: f.flag.optional(),
  external_id: f.externalId,
  ...readOnly('affiliate_code', 'created_utc', 'updated_utc', 'version'),
});

export const changeStatus = z
  .strictObject({
    client_id: pathId,
    new_status: f.statusReference.nullish(),
    new_status_id: f.statusReference.nullish(),
    changed_by_employee_id: f.optionalRecordId,
    status_note: f.statusNote,
  })
  .check(
    rule(({ new_status, new_status_id }) =>
      // null beside its alternative counts as absent (contract, "Requests and errors").
      (new_status ?? new_status_id) == null
        ? { field: 'new_status', code: 'required', message: 'new_status or new_status_id is required' }
        : undefined,
    ),
  )
  .meta({ minProperties: 1, description: 'At least one of `new_status` and `new_status_id` is required.' });

export const noteBody = z.strictObject({
  client_id: pathId,
  text: f.noteText,
  note_type: f.noteType,
  visibility: f.visibility,
  external_id: f.externalId,
});

const version = z.int().min(1).meta({ description: 'Rises with each change of a value.' });

export const personCreated = z.object({ client_id: id, status: z.string(), created_utc: instant, version });
export const personCreatedExample = (status: string) => ({
  client_id: 1042,
  status,
  created_utc: '2026-01-15T09:30:00.000Z',
  version: 1,
});

export const personUpdated = z.object({
  success: z.literal(true),
  updated_utc: instant,
  client_id: id,
  version,
});
export const personUpdatedExample = {
  success: true,
  updated_utc: '2026-01-15T09:31:00.000Z',
  client_id: 1042,
  version: 2,
} as const;

export const noteCreated = z.object({ client_note_id: id, created_utc: instant, version });
export const affiliateUpdated = z.object({
  success: z.literal(true),
  updated_utc: instant,
  employee_id: id,
  version,
});

export const affiliateCreated = z.object({
  employee_id: id,
  affiliate_code: z.string(),
  is_approved: z.boolean(),
  created_utc: instant,
  version,
});

const text = z.string();
const optionalText = text.nullable();
const kept = {
  external_id: optionalText,
  created_utc: instant,
  updated_utc: instant,
  version,
};

/** Every field of a lead or client (decision "People": one record over its life). */
export const person = z.object({
  client_id: id,
  first_name: text,
  last_name: text,
  email: text,
  phone: optionalText,
  ...(Object.fromEntries(Object.keys(f.personDetails).map((name) => [name, optionalText])) as Record<
    keyof typeof f.personDetails,
    typeof optionalText
  >),
  package_keyword: optionalText,
  status_id: id,
  status: text,
  is_lead: z.boolean(),
  employee_id: id.nullable(),
  affiliate_id: id.nullable(),
  ...kept,
});

export const affiliate = z.object({
  employee_id: id,
  first_name: text,
  last_name: text,
  email: text,
  phone: optionalText,
  affiliate_code: optionalText,
  commission_rate: z.number().nullable(),
  affiliate_company_name: optionalText,
  is_active: z.boolean(),
  is_approved: z.boolean(),
  ...kept,
});

export const note = z.object({
  client_note_id: id,
  client_id: id,
  text,
  note_type: text,
  visibility: text,
  ...kept,
});

export const personExample = {
  client_id: 1042,
  first_name: 'Katherine',
  last_name: 'Johnson',
  email: 'katherine@example.com',
  phone: '+1 555 010 4477',
  ...f.personDetailsExample,
  package_keyword: null,
  status_id: 20,
  status: 'Client - Active',
  is_lead: false,
  employee_id: 7,
  affiliate_id: null,
  external_id: 'crm-88',
  created_utc: '2026-01-15T09:30:00.000Z',
  updated_utc: '2026-01-15T09:31:00.000Z',
  version: 2,
};

export const affiliateExample = {
  employee_id: 16,
  first_name: 'Grace',
  last_name: 'Hopper',
  email: 'grace@example.com',
  phone: null,
  affiliate_code: 'GRACE-16',
  commission_rate: 12.5,
  affiliate_company_name: 'Hopper Media',
  is_active: true,
  is_approved: true,
  external_id: 'partner-16',
  created_utc: '2026-01-15T09:30:00.000Z',
  updated_utc: '2026-01-15T09:31:00.000Z',
  version: 2,
};

export const noteExample = {
  client_note_id: 501,
  client_id: 1042,
  text: 'Called back.',
  note_type: 'general',
  visibility: 'internal',
  external_id: null,
  created_utc: '2026-01-15T09:30:00.000Z',
  updated_utc: '2026-01-15T09:30:00.000Z',
  version: 1,
};

export const personFound = z.object({
  client_id: id,
  first_name: z.string(),
  last_name: z.string(),
  email: z.string(),
  phone: z.string().nullable(),
  status: z.string(),
  is_lead: z.boolean(),
  external_id: z.string().nullable(),
  created_utc: instant,
});

export const personFoundExample = {
  client_id: 1042,
  first_name: 'Katherine',
  last_name: 'Johnson',
  email: 'katherine@example.com',
  phone: '+1 555 010 4477',
  external_id: 'crm-88',
  created_utc: '2026-01-15T09:30:00.000Z',
};

export const statusChanged = z.object({
  previous_status: z.string(),
  new_status: z.string(),
  updated_utc: instant,
  version,
});

/** Of a create that updates the record with the same `external_id`. */
export const createdOrUpdated = <Schema extends z.ZodType>(
  [created, existing]: readonly [created: string, existing: string],
  schema: Schema,
  example: unknown,
  exampleOfUpdate = example,
) => ({
  201: { description: `${created} was created.`, schema, example },
  200: {
    description: `${existing} with this external_id existed and was updated.`,
    schema,
    example: exampleOfUpdate,
  },
});

export const actionInvalid = (
  field: string,
  code: DetailCode = 'required',
  message = `${field} is required`,
) => ({
  description: 'A field breaks a rule.',
  example: { error: message, details: [{ field, code, message }] },
});

export const recordMissing = (what: string) => ({
  description: `The company of the key has no such ${what}.`,
  example: { error: `${what} not found` },
});

export const externalIdTaken = {
  description: 'A field breaks a rule, or the external_id belongs to another record.',
  example: {
    error: 'external_id is already in use by client_id 1042',
    details: [
      {
        field: 'external_id',
        code: 'in_use',
        message: 'external_id is already in use by client_id 1042',
        conflicting_client_id: 1042,
      },
    ],
  },
};

/** Contract, "Identifiers, keys, scopes". */
export const reading = {
  audience: 'key',
  method: 'GET',
  service: 'crm',
  scope: 'integrations:read',
  bucket: 'read',
  errorShape: 'general',
  deadlineMs: 5000,
  body: null,
} as const;

export const action = {
  audience: 'key',
  service: 'crm',
  scope: 'integrations:write',
  bucket: 'write',
  errorShape: 'general',
  deadlineMs: 5000,
  repeat: 'once',
  versioned: true,
  query: null,
} as const;
