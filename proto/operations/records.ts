import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { limitParameter } from '../schemas/fields.ts';
import {
  actionInvalid,
  affiliate,
  affiliateExample,
  affiliatePath,
  clientPath,
  note,
  noteExample,
  person,
  personExample,
  recordMissing,
} from '../schemas/records.ts';
import { issueOf, rule, text } from '../schemas/values.ts';

const read = {
  audience: 'key',
  method: 'GET',
  service: 'crm',
  scope: 'integrations:read',
  bucket: 'read',
  errorShape: 'general',
  deadlineMs: 5000,
  tag: 'Records',
  body: null,
} as const;

const since = z
  .string()
  .transform((value, context) => {
    const isInstant = z.iso.datetime({ offset: true }).safeParse(value).success;
    if (isInstant) return new Date(value);
    const message = 'updated_since must be a time in ISO 8601, such as 2026-01-15T09:30:00.000Z';
    context.issues.push(issueOf(value, { code: 'invalid_characters', message }));
    return z.NEVER;
  })
  .meta({
    type: 'string',
    format: 'date-time',
    description: 'Only records whose `updated_utc` is not before this time. Write `+` of an offset as `%2B`.',
  });

const page = {
  limit: limitParameter({ min: 1, max: 200, otherwise: 100 }),
  cursor: z
    .string()
    .regex(/^[\w-]{1,200}$/, { error: 'invalid cursor' })
    .optional()
    .meta({ description: 'The opaque `nextCursor` of an earlier answer to the same query.' }),
};

const nextPage = {
  nextCursor: z.string().nullable().meta({ description: 'Cursor of the next page; null at the end.' }),
  hasMore: z.boolean(),
};

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
  id: 'listPeople',
  path: '/integrations/people',
  summary: 'List leads and clients',
  description: `Every lead and client with all fields. ${inOrder} With \`external_id\`, given up to ${maxExternalIds} times, the answer has those records in the order asked, and names the unknown ones in \`not_found\`; \`limit\` then does not apply. With \`kind\` a page can have fewer records than \`limit\`, or none, while \`hasMore\` is true.`,
  params: {},
  query: z
    .strictObject({
      ...page,
      updated_since: since.optional(),
      kind: z
        .enum(['lead', 'client'], { error: 'kind must be lead or client' })
        .optional()
        .meta({ description: 'Without it, both.' }),
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
        people: z.array(person).max(200),
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

const one = { ...read, query: null, versioned: true } as const;
const onePerson = { description: 'The record.', schema: person, example: personExample };

export const getPerson = defineOperation({
  ...one,
  id: 'getPerson',
  path: '/integrations/people/{client_id}',
  summary: 'Read a lead or client',
  params: clientPath,
  answers: { 200: onePerson },
  errors: { 404: recordMissing('person') },
});

export const getLead = defineOperation({
  ...one,
  id: 'getLead',
  path: '/integrations/leads/{client_id}',
  summary: 'Read a lead',
  description: 'Answers 404 unless the record is a lead.',
  params: clientPath,
  answers: { 200: { ...onePerson, example: { ...personExample, status: 'Lead - New', is_lead: true } } },
  errors: { 404: recordMissing('lead') },
});

export const getClient = defineOperation({
  ...one,
  id: 'getClient',
  path: '/integrations/clients/{client_id}',
  summary: 'Read a client',
  description: 'Answers 404 unless the record is a client.',
  params: clientPath,
  answers: { 200: onePerson },
  errors: { 404: recordMissing('client') },
});

export const listNotes = defineOperation({
  ...read,
  id: 'listNotes',
  path: '/integrations/clients/{client_id}/notes',
  summary: 'List the notes of a lead or client',
  description: 'Oldest first.',
  params: clientPath,
  query: z.strictObject(page),
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
  id: 'listAllAffiliates',
  path: '/integrations/affiliates',
  summary: 'List affiliates',
  description: `Every affiliate with all fields, inactive and unapproved ones too. ${inOrder}`,
  params: {},
  query: z.strictObject({ ...page, updated_since: since.optional() }),
  answers: {
    200: {
      description: 'The records, and the cursor of the next page.',
      schema: z.object({ affiliates: z.array(affiliate).max(200), ...nextPage }),
      example: { affiliates: [affiliateExample], nextCursor: null, hasMore: false },
    },
  },
  errors: { 400: actionInvalid('cursor', 'invalid_characters', 'invalid cursor') },
});

export const getAffiliate = defineOperation({
  ...one,
  id: 'getAffiliate',
  path: '/integrations/affiliates/{employee_id}',
  summary: 'Read an affiliate',
  params: affiliatePath,
  answers: { 200: { description: 'The record.', schema: affiliate, example: affiliateExample } },
  errors: { 404: recordMissing('affiliate') },
});
