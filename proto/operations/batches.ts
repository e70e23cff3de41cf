import { z } from 'zod';
import { type Problem, problem, tooManyAtOnce } from '../errors.ts';
import { defineOperation } from '../operation.ts';
import { renderProblem } from '../render-problem.ts';
import * as r from '../schemas/records.ts';
import { action } from '../schemas/records.ts';

/** Contract, "Batches". */
export const maxBatchItems = 100;
/** Of one company, at each gateway. */
export const batchesAtOnce = 2;

const batchModes = ['create', 'update', 'upsert'] as const;
export type BatchMode = (typeof batchModes)[number];

const item = z.record(z.string(), z.unknown());

const bodyOf = <const Modes extends readonly [BatchMode, ...BatchMode[]]>(modes: Modes, fields: string) =>
  z.strictObject({
    mode: z.enum(modes),
    invalid: z.enum(['refuse', 'drop_optional']).default('refuse').meta({
      description:
        'What happens to an item with an optional field that is not valid: it is refused, or the field is left out and named in `dropped`.',
    }),
    items: z
      .array(item)
      .min(1)
      .max(maxBatchItems)
      .meta({ description: `Each is ${fields}` }),
  });

const problemDetail = z.object({ field: z.string(), code: z.string(), message: z.string() });

const answer = z.object({
  results: z
    .array(
      z.object({
        index: z
          .int()
          .min(0)
          .max(maxBatchItems - 1),
        status: z.int().meta({ description: 'The status that the operation for one record would answer.' }),
        body: item.meta({ description: 'The body that the operation for one record would answer.' }),
        dropped: z.array(problemDetail).meta({
          description:
            'The problems of the fields that were left out; empty unless `invalid` is `drop_optional`.',
        }),
      }),
    )
    .meta({ description: 'One for each item, in their order.' }),
});

const bodyOfError = (error: Problem) => JSON.parse(renderProblem('general', error, { requestId: '' }).body);

const batch = {
  ...action,
  method: 'POST',
  params: {},
  versioned: false,
  isBatch: true,
  deadlineMs: 15_000,
  errors: {
    400: r.actionInvalid('mode'),
    429: {
      description: `The limit of the window is used up, or the company has ${batchesAtOnce} batches under way (then \`policy\` reads \`batch:${batchesAtOnce}/company\`, and a second later is soon enough).`,
      example: bodyOfError(
        tooManyAtOnce('batch', batchesAtOnce, 'company', Date.parse('2026-01-15T09:30:00Z')),
      ),
    },
  },
} as const;

const rules =
  'Counts as one request. Each item is checked, carried out and answered as the operation for one record does it; a refused item refuses no other. If two items name the same record, the second gets 409 with the reason `duplicate_item`. An item may have `if_version`: if its record has another version, the item gets 412 with the reason `version_mismatch`, and nothing of it is done. `If-None-Match: *` applies to each item. An item that was not begun in time gets 503 with the reason `not_started`. A company may have two batches under way. With an `Idempotency-Key`, a batch that was interrupted can be sent again whole.';

const created = {
  index: 0,
  status: 201,
  body: { client_id: 1042, status: 'Lead - New', created_utc: '2026-01-15T09:30:00.000Z', version: 1 },
  dropped: [],
};
const refused = {
  index: 1,
  status: 400,
  body: {
    error: 'email must be one valid email address',
    details: [{ field: 'email', code: 'email_invalid', message: 'email must be one valid email address' }],
  },
  dropped: [],
};

const late = { index: 2, status: 503, body: bodyOfError(problem('not_started')), dropped: [] };

const answersOf = (first: object) => ({
  200: {
    description: 'What became of each item. Each may be refused; see its `status`.',
    schema: answer,
    example: { results: [{ ...created, ...first }, refused, late] },
  },
});

const personItems = (kind: 'lead' | 'client') =>
  `the body of \`POST /integrations/${kind}s\`, or of \`PATCH /integrations/people/{client_id}\` with its \`client_id\` or \`external_id\`.`;
const person = { first_name: 'Katherine', last_name: 'Johnson', email: 'katherine@example.com' };
const modes =
  '`create` takes what a POST takes. `update` takes what a PATCH takes, with the id or the `external_id` of the record among the fields. `upsert` updates the record that has the id or `external_id`, for which the required fields need not be sent, and creates the others; null clears a field.';

export const batchLeads = defineOperation({
  ...batch,
  path: '/integrations/leads/batch',
  tag: 'Leads',
  summary: 'Create or update up to 100 leads',
  description: `${modes} ${rules}`,
  body: bodyOf(batchModes, personItems('lead')),
  bodyExample: {
    mode: 'create',
    items: [
      { ...person, external_id: 'crm-88' },
      { ...person, external_id: 'crm-89', email: 'no address' },
    ],
  },
  answers: answersOf({}),
});

export const batchClients = defineOperation({
  ...batch,
  path: '/integrations/clients/batch',
  tag: 'Clients',
  summary: 'Create or update up to 100 clients',
  description: `${modes} ${rules}`,
  body: bodyOf(batchModes, personItems('client')),
  bodyExample: {
    mode: 'upsert',
    invalid: 'drop_optional',
    items: [
      { ...person, phone: 'none' },
      { client_id: 1040, email: 'no address' },
    ],
  },
  answers: answersOf({
    body: { client_id: 1043, status: 'Client - Active', created_utc: '2026-01-15T09:30:00.000Z', version: 1 },
    dropped: [
      {
        field: 'phone',
        code: 'phone_invalid',
        message:
          'phone must be 3 to 32 characters of digits, space and +()-./x, with at least 3 digits (character 1 is "n", U+006E)',
      },
    ],
  }),
});

export const batchAffiliates = defineOperation({
  ...batch,
  path: '/integrations/affiliates/batch',
  tag: 'Affiliates',
  summary: 'Create or update up to 100 affiliates',
  description: `${modes} ${rules}`,
  body: bodyOf(
    batchModes,
    'the body of `POST /integrations/affiliates`, or of `PATCH /integrations/affiliates/{employee_id}` with its `employee_id` or `external_id`.',
  ),
  bodyExample: { mode: 'update', items: [{ employee_id: 16, is_approved: true }] },
  answers: answersOf({
    status: 200,
    body: { success: true, updated_utc: '2026-01-15T09:31:00.000Z', employee_id: 16, version: 2 },
  }),
});

export const batchNotes = defineOperation({
  ...batch,
  path: '/integrations/clients/notes/batch',
  tag: 'Clients',
  summary: 'Add up to 100 notes to leads and clients',
  description: `Notes can only be created; one whose external_id exists is updated. ${rules}`,
  body: bodyOf(
    ['create'],
    'the body of `POST /integrations/clients/{client_id}/notes`, with `client_id` among the fields.',
  ),
  bodyExample: { mode: 'create', items: [{ client_id: 1040, text: 'Prefers to be called in the morning.' }] },
  answers: answersOf({ body: { client_note_id: 501, created_utc: '2026-01-15T09:32:00.000Z', version: 1 } }),
});
