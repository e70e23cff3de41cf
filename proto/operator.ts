import { z } from 'zod';
import { scopes } from './operation.ts';
import { newPassword } from './portal/fields.ts';
import { keyScopes } from './portal/keys.ts';
import { email, recordId } from './schemas/fields.ts';
import { fieldName, text } from './schemas/text.ts';
import { id, instant } from './schemas/values.ts';

/**
 * Operations of the operator's command line, over lanes of their own, under the same framing as the
 * interface's; they are never reachable over HTTP.
 */
export interface OperatorOperation<Id extends string = string> {
  readonly id: Id;
  readonly body: z.ZodType;
  readonly answer: z.ZodType;
}

const company = z.object({ company_id: id, name: z.string(), created_utc: instant });

const limit = z.int().min(1);
const limits = z.object({
  read: limit.nullable(),
  write: limit.nullable(),
  admin: limit.nullable(),
  lookup: limit.nullable(),
});

const key = z.object({
  id,
  company_id: id,
  name: z.string(),
  scopes: z.array(z.enum(scopes)),
  masked: z.string(),
  is_active: z.boolean(),
  created_utc: instant,
  revoked_utc: instant.nullable(),
  last_used_utc: instant.nullable(),
});

export type CompanyAnswer = z.output<typeof company>;
export type KeyAnswer = z.output<typeof key>;
export type LimitsAnswer = z.output<typeof limits>;

const wholeNumber = { error: `${fieldName} must be a positive integer, or null for the default` };
/** null takes the limit back to the configured one; absent leaves it as it is. */
const newLimit = z.int(wholeNumber).min(1, wholeNumber).max(1_000_000_000, wholeNumber).nullable().optional();

const name = text({ min: 1, max: 100, oneLine: true });

const define = <const Id extends string, B extends z.ZodType, A extends z.ZodType>(
  id: Id,
  body: B,
  answer: A,
) => ({
  id,
  body,
  answer,
});

/**
 * Seals every secret with the ring's first key that another of its keys has sealed. One call does a part of
 * them: as long as `next` is not null, it is `after` of the call that goes on.
 */
const reencrypt = z.strictObject({ after: z.int().min(0).optional() });
const reencrypted = z.object({
  /** The name of the key that seals. */
  key: z.string(),
  checked: z.int().min(0),
  resealed: z.int().min(0),
  /** Those whose key the ring does not have; they are left as they are. */
  unopened: z.int().min(0),
  next: z.int().min(1).nullable(),
});

export const operatorContract = Object.freeze({
  createCompany: define('createCompany', z.strictObject({ name }), company),
  listCompanies: define('listCompanies', z.strictObject({}), z.object({ companies: z.array(company) })),
  createKey: define(
    'createKey',
    z.strictObject({ company_id: recordId, name, scopes: keyScopes }),
    key.extend({ value: z.string() }),
  ),
  listKeys: define(
    'listKeys',
    z.strictObject({ company_id: recordId.optional() }),
    z.object({ keys: z.array(key) }),
  ),
  revokeKey: define('revokeKey', z.strictObject({ id: recordId }), key),
  /** Of a company (all its keys that have none of their own) or of one key (`id`). */
  setLimits: define(
    'setLimits',
    z
      .strictObject({
        company_id: recordId.optional(),
        id: recordId.optional(),
        read: newLimit,
        write: newLimit,
        admin: newLimit,
        lookup: newLimit,
      })
      .check((context) => {
        const { company_id, id: keyId, ...wanted } = context.value;
        const fail = (message: string) =>
          context.issues.push({ code: 'custom', input: context.value, path: [], message });
        if ((company_id === undefined) === (keyId === undefined))
          fail('either company_id or id (of a key) is required');
        if (Object.values(wanted).every((limit) => limit === undefined))
          fail('at least one of read, write, admin and lookup is required');
      }),
    z.object({ company_id: id, id: id.optional(), limits }),
  ),
  createPortalOwner: define(
    'createPortalOwner',
    z.strictObject({
      company_id: recordId,
      email,
      password: newPassword,
    }),
    z.object({ id, company_id: id, email: z.string() }),
  ),
  /** For the last owner, whom nobody of the company can help. */
  resetPortalOwner: define(
    'resetPortalOwner',
    z.strictObject({ company_id: recordId, email }),
    z.object({ id, company_id: id, email: z.string(), link: z.string(), expires_utc: instant }),
  ),
  /** Seals members' second factors with the first key of the portal's ring. */
  reencryptFactors: define('reencryptFactors', reencrypt, reencrypted),
});

/** The operator's operations that `webhooks` answers over a lane of its own, with the same framing. */
export const operatorWebhooksContract = Object.freeze({
  /** Seals every signing secret with the first key of the webhooks' ring. */
  reencryptSecrets: define('reencryptSecrets', reencrypt, reencrypted),
});

export type ReencryptAnswer = z.output<typeof reencrypted>;

export type OperatorOperationId = keyof typeof operatorContract;
export type OperatorWebhooksOperationId = keyof typeof operatorWebhooksContract;
