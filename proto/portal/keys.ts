import { z } from 'zod';
import { defineOperation, memberDefaults, scopes } from '../operation.ts';
import { limitParameter } from '../schemas/fields.ts';
import { setsSomething } from '../schemas/records.ts';
import { fieldName, id, instant, optionalText, text } from '../schemas/values.ts';
import { cursorParameter } from './fields.ts';

const keys = { ...memberDefaults, service: 'access', role: 'developer' } as const;

const apiKey = z.object({
  id,
  name: z.string(),
  scopes: z.array(z.enum(scopes)),
  masked: z.string(),
  isActive: z.boolean(),
  createdUtc: instant,
  revokedUtc: instant.nullable(),
  lastUsedUtc: instant.nullable().meta({ description: 'To the minute.' }),
  note: z.string().nullable(),
  expiresUtc: instant.nullable().meta({ description: 'When the key is revoked by itself; null: never.' }),
  /** Requests per minute; null: the limit of the company. */
  limits: z.object({
    read: z.int().nullable(),
    write: z.int().nullable(),
    admin: z.int().nullable(),
    lookup: z.int().nullable(),
  }),
});

export const keyScopes = z
  .array(z.enum(scopes, { error: `${fieldName} must be one of ${scopes.join(', ')}` }))
  .min(1, { error: `at least one scope is required: ${scopes.join(', ')}` })
  .max(50)
  .transform((list) => scopes.filter((scope) => list.includes(scope)));

const keyName = text({ min: 1, max: 100, oneLine: true });
const keyNote = optionalText({ max: 500 });
/** In the future, and at most five years from now. */
const keyExpiry = instant.nullish();

export const listApiKeys = defineOperation({
  ...keys,
  id: 'listApiKeys',
  method: 'GET',
  path: '/keys',
  role: 'viewer',
  query: z.strictObject({
    limit: limitParameter({ min: 1, max: 200, otherwise: 50 }),
    cursor: cursorParameter,
    state: z.enum(['active', 'revoked']).optional(),
    ids: z
      .string()
      .regex(/^\d{1,15}(,\d{1,15}){0,199}$/, {
        error: `${fieldName} must be up to 200 numbers with commas between them`,
      })
      .transform((list) => list.split(',').map(Number))
      .meta({ type: 'string' })
      .optional(),
    /** A part of the name, or the last four characters of the key. */
    q: z.string().trim().max(100).optional(),
    sort: z
      .enum(['newest', 'used', 'unused'])
      .default('newest')
      .meta({ description: '`used`: the last used first. `unused`: the last used last.' }),
  }),
  answers: {
    200: {
      schema: z.object({ keys: z.array(apiKey), nextCursor: z.string().nullable(), hasMore: z.boolean() }),
    },
  },
});

/** It works once this is answered. */
export const createApiKey = defineOperation({
  ...keys,
  id: 'createApiKey',
  method: 'POST',
  path: '/keys',
  deadlineMs: 10_000,
  body: z.strictObject({ name: keyName, scopes: keyScopes, note: keyNote, expiresUtc: keyExpiry }),
  answers: { 201: { schema: apiKey.extend({ value: z.string() }) } },
});

/** Only the sent fields change. Once this is answered, every gateway knows the new permissions and expiry. */
export const updateApiKey = defineOperation({
  ...keys,
  id: 'updateApiKey',
  method: 'PATCH',
  path: '/keys/{id}',
  deadlineMs: 10_000,
  body: z
    .strictObject({
      name: keyName.optional(),
      scopes: keyScopes.optional(),
      note: keyNote,
      expiresUtc: keyExpiry,
    })
    .check(setsSomething),
  answers: { 200: { schema: apiKey } },
  // The key is revoked.
  errors: [409],
});

/** Once this is answered, no gateway accepts the key. */
export const revokeApiKey = defineOperation({
  ...keys,
  id: 'revokeApiKey',
  method: 'POST',
  path: '/keys/{id}/revoke',
  deadlineMs: 10_000,
  answers: { 204: { schema: null } },
});
