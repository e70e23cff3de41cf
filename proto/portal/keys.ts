import { z } from 'zod';
import { defineOperation, scopes } from '../operation.ts';
import { limitParameter } from '../schemas/query.ts';
import { recordMissing } from '../schemas/records.ts';
import { fieldName, text } from '../schemas/text.ts';
import { id, instant } from '../schemas/values.ts';
import { cursorParameter } from './fields.ts';

const keys = { service: 'access', role: 'developer', query: null, params: {} } as const;

const apiKey = z.object({
  id,
  name: z.string(),
  scopes: z.array(z.enum(scopes)),
  masked: z.string(),
  isActive: z.boolean(),
  createdUtc: instant,
  revokedUtc: instant.nullable(),
  lastUsedUtc: instant.nullable().meta({ description: 'To the minute.' }),
  /** Requests per minute; null: the limit of the company. */
  limits: z.object({
    read: z.int().nullable(),
    write: z.int().nullable(),
    admin: z.int().nullable(),
    lookup: z.int().nullable(),
  }),
});

const example = {
  id: 12,
  name: 'Zapier',
  scopes: ['integrations:read', 'integrations:write'],
  masked: 'crm_1001_…x7Qa',
  isActive: true,
  createdUtc: '2026-01-15T09:30:00.000Z',
  revokedUtc: null,
  lastUsedUtc: '2026-01-15T11:02:00.000Z',
  limits: { read: null, write: null, admin: null, lookup: null },
};

/** The scopes of a new key, in the order of the contract, each once. */
export const keyScopes = z
  .array(z.enum(scopes, { error: `${fieldName} must be one of ${scopes.join(', ')}` }))
  .min(1, { error: `at least one scope is required: ${scopes.join(', ')}` })
  .max(50)
  .transform((list) => scopes.filter((scope) => list.includes(scope)));

export const listApiKeys = defineOperation({
  audience: 'member',
  ...keys,
  id: 'listApiKeys',
  method: 'GET',
  path: '/keys',
  role: 'viewer',
  deadlineMs: 5000,
  summary: 'The company’s API keys, by pages; never their values',
  query: z.strictObject({
    limit: limitParameter({ min: 1, max: 200, otherwise: 50 }),
    cursor: cursorParameter,
    state: z.enum(['active', 'revoked']).optional(),
    /** A part of the name, or the last four characters of the key. */
    q: z.string().trim().max(100).optional(),
    sort: z
      .enum(['newest', 'used', 'unused'])
      .default('newest')
      .meta({ description: '`used`: the last used first. `unused`: the last used last.' }),
  }),
  body: null,
  answers: {
    200: {
      description:
        'The keys, including revoked ones unless `state` excludes them, and the cursor of the next page.',
      schema: z.object({ keys: z.array(apiKey), nextCursor: z.string().nullable(), hasMore: z.boolean() }),
      example: { keys: [example], nextCursor: null, hasMore: false },
    },
  },
  errors: { 400: { description: 'A parameter is not valid.', example: { error: 'invalid cursor' } } },
});

export const createApiKey = defineOperation({
  audience: 'member',
  ...keys,
  id: 'createApiKey',
  method: 'POST',
  path: '/keys',
  deadlineMs: 10_000,
  summary: 'Create an API key; it works once this is answered',
  body: z.strictObject({ name: text({ min: 1, max: 100, oneLine: true }), scopes: keyScopes }),
  answers: {
    201: {
      description: 'The key. Its value is shown in this answer only.',
      schema: apiKey.extend({ value: z.string() }),
      example: { ...example, value: 'crm_1001_0123456789abcdefghijklmnopqrstuvwxABCDEF' },
    },
  },
  errors: {
    400: {
      description: 'The company has as many active keys as its quota allows.',
      example: {
        error: 'a company may have 200 active keys; revoke one that is not needed',
        quota: 'keys',
        limit: 200,
      },
    },
  },
});

export const revokeApiKey = defineOperation({
  audience: 'member',
  ...keys,
  id: 'revokeApiKey',
  method: 'POST',
  path: '/keys/{id}/revoke',
  params: { id: 'ID of the key.' },
  deadlineMs: 10_000,
  summary: 'Revoke an API key; once this is answered, no gateway accepts it',
  body: null,
  answers: { 204: { description: 'Revoked.', schema: null } },
  errors: { 404: recordMissing('key') },
});
