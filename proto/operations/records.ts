import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { cursorParameter, instantParameter, nextPage } from '../portal/fields.ts';
import { limitParameter, recordId } from '../schemas/fields.ts';
import {
  action,
  actionInvalid,
  affiliate,
  affiliateExample,
  affiliatePath,
  clientPath,
  externalIdTaken,
  note,
  noteExample,
  person,
  personExample,
  personUpdated,
  personUpdatedExample,
  reading,
  recordMissing,
  updateNamedPerson,
  updatePerson as updatePersonBody,
} from '../schemas/records.ts';
import { id, rule, text } from '../schemas/values.ts';

const read = { ...reading, tag: 'Records' } as const;

const since = instantParameter.meta({
  description: 'Only records whose `updated_utc` is not before this time. Write `+` of an offset as `%2B`.',
});

const pageOf = (max: number) => ({
  limit: limitParameter({ min: 1, max, otherwise: 100 }),
  cursor: cursorParameter,
});

/** `external_id` may be given so many times. */
const maxExternalIds = 100;

const exclusive = rule(({ external_id, cursor, updated_since }) =>
  external_id !== undefined && (cursor ?? updated_since) !== undefined
    ? {
        field: 'external_id',
        code: 'must_agree',
        message: 'external_id cannot be combined with cursor or updated_since',
      }
    : undefined,
);

const inOrder =
  'In the order of `updated_utc` and ID, so that a record that changes meanwhile comes again and none is left out. To follow changes from then on, read `GET /integrations/changes`.';

export const listPeople = defineOperation({
  ...read,
  path: '/integrations/people',
  summary: 'List leads and clients',
  description: `Every lead and client with all fields. ${inOrder} With \`external_id\`, given up to ${maxExternalIds} times, the answer has those records in the order asked, and names the unknown ones in \`not_found\`; \`limit\` then does not apply. With \`kind\` a page can have fewer records than \`limit\` while \`hasMore\` is true.`,
  params: {},
  query: z
    .strictObject({
      ...pageOf(1000),
      updated_since: since,
      kind: z
        .enum(['lead', 'client'], { error: 'kind must be lead or client' })
        .optional()
        // Generated Go clients have a type `Client` of their own.
        .meta({ description: 'Without it, both.', 'x-enum-varnames': ['KindLead', 'KindClient'] }),
      external_id: z
        .array(text({ min: 1, max: 100 }))
        .max(maxExternalIds, { error: `external_id must be given at most ${maxExternalIds} times` })
        .optional()
        .meta({ description: 'Compared exactly. Repeat the parameter to ask for several.' }),
    })
    .check(exclusive),
  answers: {
    200: {
      description: 'The records, and the cursor of the next page.',
      schema: z.object({
        people: z.array(person).max(1000),
        ...nextPage,
        not_found: z
          .array(z.string())
          .optional()
          .meta({ description: 'With `external_id`: those that no such record has.' }),
      }),
      example: { people: [personExample], nextCursor: null, hasMore: false },
    },
  },
  errors: { 400: actionInvalid('cursor', 'invalid_characters', 'invalid cursor') },
});

const recordRead = { ...read, query: null, versioned: true } as const;
const onePerson = { description: 'The record.', schema: person, example: personExample };

export const getPerson = defineOperation({
  ...recordRead,
  path: '/integrations/people/{client_id}',
  summary: 'Read a lead or client',
  params: clientPath,
  answers: { 200: onePerson },
  errors: { 404: recordMissing('person') },
});

const eitherKind =
  'Of either kind. Only the sent fields change; null clears an optional field. A `status` that is no lead status makes a client of a lead; a client gets no lead status.';
const updated = {
  answers: { 200: { description: 'Updated.', schema: personUpdated, example: personUpdatedExample } },
  errors: { 400: externalIdTaken, 404: recordMissing('person') },
} as const;

export const updatePerson = defineOperation({
  ...action,
  method: 'PATCH',
  path: '/integrations/people/{client_id}',
  tag: 'Records',
  summary: 'Update a lead or client',
  description: eitherKind,
  params: clientPath,
  body: updatePersonBody,
  bodyExample: { phone: null, status: 'Client - Active' },
  ...updated,
});

export const updatePersonByExternalId = defineOperation({
  ...action,
  method: 'PATCH',
  path: '/integrations/people',
  tag: 'Records',
  summary: 'Update a lead or client by its external_id',
  description: eitherKind,
  params: {},
  query: z.strictObject({
    external_id: text({ min: 1, max: 100 }).meta({ description: 'Compared exactly.' }),
  }),
  body: updateNamedPerson,
  bodyExample: { city: 'Hampton' },
  ...updated,
});

export const getLead = defineOperation({
  ...recordRead,
  path: '/integrations/leads/{client_id}',
  summary: 'Read a lead',
  description: 'Answers 404 unless the record is a lead.',
  params: clientPath,
  answers: { 200: { ...onePerson, example: { ...personExample, status: 'Lead - New', is_lead: true } } },
  errors: { 404: recordMissing('lead') },
});

export const getClient = defineOperation({
  ...recordRead,
  path: '/integrations/clients/{client_id}',
  summary: 'Read a client',
  description: 'Answers 404 unless the record is a client.',
  params: clientPath,
  answers: { 200: onePerson },
  errors: { 404: recordMissing('client') },
});

export const listNotes = defineOperation({
  ...read,
  path: '/integrations/clients/{client_id}/notes',
  summary: 'List the notes of a lead or client',
  description: 'Oldest first.',
  params: clientPath,
  query: z.strictObject(pageOf(200)),
  answers: {
    200: {
      description: 'The notes, and the cursor of the next page.',
      schema: z.object({ notes: z.array(note).max(200), ...nextPage }),
      example: { notes: [noteExample], nextCursor: null, hasMore: false },
    },
  },
  errors: {
    400: actionInvalid('cursor', 'invalid_characters', 'invalid cursor'),
    404: recordMissing('client'),
  },
});

export const listAllAffiliates = defineOperation({
  ...read,
  path: '/integrations/affiliates',
  summary: 'List affiliates',
  description: `Every affiliate with all fields, inactive and unapproved ones too. ${inOrder}`,
  params: {},
  query: z.strictObject({ ...pageOf(1000), updated_since: since }),
  answers: {
    200: {
      description: 'The records, and the cursor of the next page.',
      schema: z.object({ affiliates: z.array(affiliate).max(1000), ...nextPage }),
      example: { affiliates: [affiliateExample], nextCursor: null, hasMore: false },
    },
  },
  errors: { 400: actionInvalid('cursor', 'invalid_characters', 'invalid cursor') },
});

export const getAffiliate = defineOperation({
  ...recordRead,
  path: '/integrations/affiliates/{employee_id}',
  summary: 'Read an affiliate',
  params: affiliatePath,
  answers: { 200: { description: 'The record.', schema: affiliate, example: affiliateExample } },
  errors: { 404: recordMissing('affiliate') },
});

export const erasePerson = defineOperation({
  service: 'crm',
  method: 'DELETE',
  deadlineMs: 5000,
  repeat: 'once',
  query: null,
  body: null,
  callers: {
    key: {
      path: '/integrations/people/{client_id}',
      versioned: true,
      scope: 'admin',
      bucket: 'admin',
      errorShape: 'general',
      tag: 'Records',
      summary: 'Erase a person',
      description:
        'Erases a lead or client for privacy, for good: the record, its notes, its status history and its search entries are gone when this is answered. Within seconds, `payload` of its events is `{"client_id": …, "erased": true}`, what receivers answered to their deliveries is removed, and so are stored answers to `Idempotency-Key`s that name it. The changes feed has a deletion for 90 days.',
      params: clientPath,
      answers: { 204: { description: 'Erased. No body.', schema: null } },
      errors: { 404: recordMissing('person') },
    },
    member: {
      id: 'erasePortalPerson',
      path: '/people/{client_id}',
      role: 'admin',
      answers: { 204: { schema: null } },
      errors: [404],
    },
    operator: {
      id: 'erasePersonOfCompany',
      body: z.strictObject({ company_id: recordId, client_id: recordId }),
      answers: { 200: { schema: z.object({ company_id: id, client_id: id }) } },
    },
  },
});
