import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { limitParameter } from '../schemas/fields.ts';
import { codePoints, count, fieldName, id, valueRule } from '../schemas/values.ts';

const lookup = {
  audience: 'key',
  method: 'GET',
  service: 'crm',
  scope: 'integrations:read',
  bucket: 'lookup',
  errorShape: 'lookup',
  deadlineMs: 5000,
  tag: 'Lookups',
  params: {},
  query: null,
  body: null,
  errors: {},
} as const;

export const listEmployees = defineOperation({
  ...lookup,
  path: '/integrations/lookups/employees',
  summary: 'List employees',
  description: 'Active employees, without affiliates, sorted by full name.',
  answers: {
    200: {
      description: 'The employees.',
      schema: z.object({
        employees: z.array(z.object({ employee_id: id, full_name: z.string() })),
        count,
      }),
      example: {
        employees: [
          { employee_id: 12, full_name: 'Ada Byron' },
          { employee_id: 7, full_name: 'Grace Murray' },
        ],
        count: 2,
      },
    },
  },
});

export const listAffiliates = defineOperation({
  ...lookup,
  path: '/integrations/lookups/affiliates',
  summary: 'List affiliates',
  description: 'Active and approved affiliates, sorted by full name.',
  answers: {
    200: {
      description: 'The affiliates.',
      schema: z.object({
        affiliates: z.array(
          z.object({
            affiliate_id: id.meta({ description: "The affiliate's employee ID." }),
            full_name: z.string(),
          }),
        ),
        count,
      }),
      example: { affiliates: [{ affiliate_id: 16, full_name: 'Lise Meitner' }], count: 1 },
    },
  },
});

export const listClientStatuses = defineOperation({
  ...lookup,
  path: '/integrations/lookups/client-statuses',
  summary: 'List lead and client statuses',
  description:
    'Valid and active statuses. Lead statuses are global; other statuses are global or the company’s own. The company’s own come first, each group sorted by name.',
  answers: {
    200: {
      description: 'The statuses.',
      schema: z.object({
        statuses: z.array(
          z.object({
            status_id: id,
            status_name: z.string(),
            is_lead: z
              .boolean()
              .meta({ description: 'True for lead statuses (the name starts with "Lead").' }),
            is_active: z.boolean(),
            color_code: z.string().regex(/^#[0-9a-f]{6}$/),
          }),
        ),
        count,
      }),
      example: {
        statuses: [
          {
            status_id: 4,
            status_name: 'Client - Active',
            is_lead: false,
            is_active: true,
            color_code: '#2e7d32',
          },
          { status_id: 1, status_name: 'Lead - New', is_lead: true, is_active: true, color_code: '#1565c0' },
        ],
        count: 2,
      },
    },
  },
});

/** For texts that are no ID (contract, "Client search"). */
const minSearchCharacters = 2;

/** As the person who types counts: an accent is part of its letter (contract, "Client search"). */
const searchCharacters = (q: string): number => codePoints(q.normalize('NFC').replace(/\p{M}/gu, ''));

export const searchClients = defineOperation({
  ...lookup,
  path: '/integrations/lookups/clients',
  summary: 'Search leads and clients',
  description:
    'A numeric `q` finds the client with that ID. Any other `q` of 2 or more characters finds those whose name or email contains it, whose phone digits, with or without an extension, end with it (three digits or more), or whose external_id starts with it. Case, accents, strokes and ligatures do not count (`lodz` finds `Łódź`). An empty or missing `q` finds nothing.',
  query: z.strictObject({
    q: z
      .string()
      .trim()
      .check(
        valueRule((q) =>
          q === '' || /^\d+$/.test(q) || searchCharacters(q) >= minSearchCharacters
            ? undefined
            : {
                code: 'too_short',
                message: `${fieldName} must be at least ${minSearchCharacters} characters, or a client ID`,
              },
        ),
      )
      .default('')
      .meta({ description: 'What to search for: a client ID, or 2 or more characters.' }),
    limit: limitParameter({ min: 1, max: 25, otherwise: 25 }),
  }),
  answers: {
    200: {
      description: 'The leads and clients found.',
      schema: z.object({
        clients: z
          .array(
            z.object({
              id,
              name: z.string().meta({ description: 'Full name, a separator, then email or phone.' }),
            }),
          )
          .max(25),
        count,
      }),
      example: { clients: [{ id: 1042, name: 'Katherine Johnson · katherine@example.com' }], count: 1 },
    },
  },
  errors: {
    400: {
      description: '`q` is a single character that is not a digit, or `limit` is out of range.',
      example: {
        error_code: 'invalid_request',
        message: 'q must be at least 2 characters, or a client ID',
        details: [
          { field: 'q', code: 'too_short', message: 'q must be at least 2 characters, or a client ID' },
        ],
      },
    },
  },
});
