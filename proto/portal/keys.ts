import { z } from 'zod';
import { defineOperation, memberDefaults, scopes } from '../operation.ts';
import { limitParameter } from '../schemas/fields.ts';
import { setsSomething } from '../schemas/records.ts';
import { count, fieldName, id, instant, optionalText, sameName, text, valueRule } from '../schemas/values.ts';
import { cursorParameter, nextPage, numberList } from './fields.ts';
import { canonicalNetwork } from './network.ts';

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
  /** In CIDR notation. Empty: requests may come from anywhere. */
  networks: z.array(z.string()),
  /** The secret before the latest rotation, while it works. */
  previous: z.object({ masked: z.string(), untilUtc: instant }).nullable(),
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
/** IPv4-mapped addresses are refused: a client's address is always shown as the IPv4 address. */
const network = z
  .string()
  .check(
    valueRule((value) =>
      canonicalNetwork(value)
        ? undefined
        : {
            code: 'invalid_characters',
            message: `${fieldName} must be an IPv4 or IPv6 address or network, such as 203.0.113.0/24`,
          },
    ),
  )
  .transform((value) => canonicalNetwork(value)!);
/** None: any network. */
const keyNetworks = z
  .array(network)
  .max(50)
  .transform((list) => [...new Set(list)]);
/** In the future, and at most five years from now. */
const keyExpiry = instant.nullish();

export const newKey = {
  name: keyName,
  scopes: keyScopes,
  note: keyNote,
  expiresUtc: keyExpiry,
  networks: keyNetworks.optional(),
};
const changes = z.strictObject(newKey).partial();

export const listApiKeys = defineOperation({
  ...keys,
  method: 'GET',
  path: '/keys',
  role: 'viewer',
  query: z.strictObject({
    limit: limitParameter({ min: 1, max: 200, otherwise: 50 }),
    cursor: cursorParameter,
    state: z.enum(['active', 'revoked']).optional(),
    ids: numberList(200).optional(),
    /** A part of the name, or the last four characters of the key. */
    q: z.string().trim().max(100).optional(),
    sort: z
      .enum(['newest', 'used', 'unused'])
      .default('newest')
      .meta({ description: '`used`: the last used first. `unused`: the last used last.' }),
  }),
  answers: {
    200: {
      schema: z.object({ keys: z.array(apiKey), ...nextPage }),
    },
  },
});

/** It works once this is answered. */
export const createApiKey = defineOperation({
  ...keys,
  freshProof: true,
  method: 'POST',
  repeat: 'once',
  path: '/keys',
  deadlineMs: 10_000,
  body: z.strictObject({ ...newKey, basedOn: sameName }),
  answers: { 201: { schema: apiKey.extend({ value: z.string() }) } },
  errors: [409],
});

/** Only the sent fields change. Once this is answered, every gateway knows the new permissions and expiry. */
export const updateApiKey = defineOperation({
  ...keys,
  freshProof: true,
  method: 'PATCH',
  path: '/keys/{id}',
  deadlineMs: 10_000,
  /** With `basedOn`, a field that was changed meanwhile is refused, with its stored value in `changed`. */
  body: changes.extend({ basedOn: changes.optional() }).check(setsSomething),
  answers: { 200: { schema: apiKey } },
  // The key is revoked, or a field was changed meanwhile.
  errors: [409],
});

/**
 * Gives the key a new secret, and keeps everything else. The old one works for `graceHours` more; with 0, every earlier secret ends
 * at once. During a grace, only a rotation with 0 is possible.
 */
export const rotateApiKey = defineOperation({
  ...keys,
  freshProof: true,
  method: 'POST',
  path: '/keys/{id}/rotate',
  deadlineMs: 10_000,
  body: z.strictObject({ graceHours: z.int().min(0).max(168) }),
  answers: { 200: { schema: apiKey.extend({ value: z.string() }) } },
  errors: [409],
});

/** Ends the grace before its time: once this is answered, only the kept secret works. */
export const endKeyRotation = defineOperation({
  ...keys,
  freshProof: true,
  method: 'POST',
  path: '/keys/{id}/rotation/end',
  deadlineMs: 10_000,
  body: z.strictObject({ keep: z.enum(['new', 'old']) }),
  answers: { 200: { schema: apiKey } },
  errors: [409],
});

const use = z.object({ utc: instant, address: z.string() }).nullable();

/** From the request log of seven days, or of its latest part if the key is very busy (`sinceUtc`). */
export const getKeyUse = defineOperation({
  ...keys,
  method: 'GET',
  path: '/keys/{id}/use',
  answers: {
    200: {
      schema: z.object({
        sinceUtc: instant,
        last: use,
        /** Of the secret before the latest rotation. */
        previous: use,
        previousInLastHour: count,
        /** Requests that succeeded, by the scope that they needed. */
        scopes: z.array(z.object({ scope: z.enum(scopes), requests: count })),
      }),
    },
  },
});

/** The newest first. With `status`, a page may hold fewer than `limit`, or none, while `hasMore` is true. */
export const listKeyRequests = defineOperation({
  ...keys,
  method: 'GET',
  path: '/keys/{id}/requests',
  query: z.strictObject({
    limit: limitParameter({ min: 1, max: 100, otherwise: 25 }),
    cursor: cursorParameter,
    status: z.coerce.number().int().min(2).max(5).optional().meta({ description: '4: from 400 to 499.' }),
  }),
  answers: {
    200: {
      schema: z.object({
        requests: z.array(
          z.object({
            utc: instant,
            method: z.string(),
            /** Without query string, and with ids only. Null: no operation has it. */
            path: z.string().nullable(),
            status: z.int(),
            durationMs: z.int().min(0),
            requestId: z.string().nullable(),
            address: z.string().nullable(),
            isPrevious: z.boolean(),
            /** More than 1: further requests of the kind, of which only the number was kept. */
            requests: z.int().min(1),
          }),
        ),
        ...nextPage,
      }),
    },
  },
});

/** Once this is answered, no gateway accepts the key. */
export const revokeApiKey = defineOperation({
  ...keys,
  freshProof: true,
  method: 'POST',
  path: '/keys/{id}/revoke',
  deadlineMs: 10_000,
  answers: { 204: { schema: null } },
});
