import { z } from 'zod';
import { noticeChannels } from './notices.ts';
import { defineOperation, scopes } from './operation.ts';
import { newPassword } from './portal/fields.ts';
import { keyScopes } from './portal/keys.ts';
import { email, recordId } from './schemas/fields.ts';
import { fieldName, id, instant, text, valueRule } from './schemas/values.ts';

const operator = {
  audience: 'operator',
  service: 'access',
  /** Revoking waits up to five seconds for a gateway that died a moment ago. */
  deadlineMs: 20_000,
  query: null,
} as const;

const company = z.object({
  company_id: id,
  name: z.string(),
  created_utc: instant,
  closed_utc: instant.optional(),
});

const limit = z.int().min(1);
const limits = z.object({
  read: limit.nullable(),
  write: limit.nullable(),
  admin: limit.nullable(),
  lookup: limit.nullable(),
});

const temporary = z.object({ until: instant, limits: limits.partial() });

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
/** Null resets the limit to the configured one; an absent limit stays as it is. */
const newLimit = z.int(wholeNumber).min(1, wholeNumber).max(1_000_000_000, wholeNumber).nullable().optional();

const name = text({ min: 1, max: 100, oneLine: true });

export const createCompany = defineOperation({
  ...operator,
  body: z.strictObject({ name }),
  answers: { 201: { schema: company } },
});

export const listCompanies = defineOperation({
  ...operator,
  body: z.strictObject({}),
  answers: { 200: { schema: z.object({ companies: z.array(company) }) } },
});

const closedCompany = company.extend({ closed_utc: instant, kept_until_utc: instant });

/** Closing a company that is closed changes nothing, and shows it to the gateways again. */
export const closeCompany = defineOperation({
  ...operator,
  body: z.strictObject({ company_id: recordId }),
  answers: { 200: { schema: closedCompany } },
});

export const openCompany = defineOperation({
  ...operator,
  body: z.strictObject({ company_id: recordId }),
  answers: { 200: { schema: company } },
});

/** Makes the subscriptions of a company that was closed or opened follow it now, which they do by themselves within seconds. */
export const switchSubscriptions = defineOperation({
  ...operator,
  service: 'webhooks',
  body: z.strictObject({ company_id: recordId }),
  answers: { 200: { schema: z.object({ company_id: id, subscriptions: z.int().min(0) }) } },
});

/** Unless `next` is null, it is the `after` of the next call. Each line is a JSON object. */
const exporting = {
  body: z.strictObject({ company_id: recordId, after: z.string().max(100).optional() }),
  answers: { 200: { schema: z.object({ lines: z.array(z.string()), next: z.string().nullable() }) } },
};

/** The company, its members and its keys; no password, value or hash. */
export const exportCompany = defineOperation({ ...operator, ...exporting });

/** Without secrets, and of channels without URLs, which are secrets. */
export const exportSubscriptions = defineOperation({
  ...operator,
  service: 'webhooks',
  ...exporting,
});

export const exportRecords = defineOperation({
  ...operator,
  service: 'crm',
  ...exporting,
});

export const createKey = defineOperation({
  ...operator,
  body: z.strictObject({ company_id: recordId, name, scopes: keyScopes }),
  answers: { 201: { schema: key.extend({ value: z.string() }) } },
});

export const listKeys = defineOperation({
  ...operator,
  body: z.strictObject({ company_id: recordId.optional() }),
  answers: { 200: { schema: z.object({ keys: z.array(key) }) } },
});

export const revokeKey = defineOperation({
  ...operator,
  body: z.strictObject({ id: recordId }),
  answers: { 200: { schema: key } },
});

export const setLimits = defineOperation({
  ...operator,
  body: z
    .strictObject({
      company_id: recordId.optional(),
      id: recordId.optional(),
      read: newLimit,
      write: newLimit,
      admin: newLimit,
      lookup: newLimit,
      /** Until then the named limits hold in place of the company's own; null ends that. */
      until: z.iso
        .datetime({ offset: true, error: `${fieldName} must be a time in ISO 8601, or null to end it` })
        .nullable()
        .optional(),
    })
    .check(
      valueRule(({ company_id, id: keyId, until, ...limits }) => {
        if ((company_id === undefined) === (keyId === undefined))
          return {
            code: keyId === undefined ? 'required' : 'must_agree',
            message: 'either company_id or id (of a key) is required',
          };
        const named = Object.values(limits).filter((limit) => limit !== undefined);
        if (until !== undefined && keyId !== undefined)
          return { code: 'must_agree', message: 'until is for a company, not for a key' };
        if (until === null)
          return named.length === 0
            ? undefined
            : { code: 'must_agree', message: 'until: null takes no limits' };
        if (until !== undefined && named.includes(null))
          return { code: 'must_agree', message: 'a limit until a time must be a number' };
        return named.length === 0
          ? { code: 'empty_update', message: 'at least one of read, write, admin and lookup is required' }
          : undefined;
      }),
    ),
  answers: {
    200: { schema: z.object({ company_id: id, id: id.optional(), limits, temporary: temporary.optional() }) },
  },
});

export const createPortalOwner = defineOperation({
  ...operator,
  body: z.strictObject({ company_id: recordId, email, password: newPassword }),
  answers: {
    201: { schema: z.object({ id, company_id: id, email: z.string() }) },
  },
});

export const resetPortalOwner = defineOperation({
  ...operator,
  /** `two_factor`: also turn off the second factor of an owner who lost the app and the recovery codes. */
  body: z.strictObject({ company_id: recordId, email, two_factor: z.boolean().default(false) }),
  answers: {
    200: {
      schema: z.object({
        id,
        company_id: id,
        email: z.string(),
        two_factor_reset: z.boolean(),
        link: z.string(),
        expires_utc: instant,
      }),
    },
  },
});

export const removePortalMember = defineOperation({
  ...operator,
  body: z.strictObject({
    company_id: recordId,
    email,
    keep_keys: z.array(id).max(1000).default([]),
    keep_subscriptions: z.array(id).max(1000).default([]),
    keep_channels: z.array(z.enum(noticeChannels)).max(noticeChannels.length).default([]),
  }),
  answers: {
    200: { schema: z.object({ id, company_id: id, email: z.string(), revoked_keys: z.array(id) }) },
  },
});

/** Unless `next` is null, it is the `after` of the next call. */
const reencrypt = z.strictObject({ after: z.int().min(0).optional() });
const reencrypted = z.object({
  key: z.string(),
  checked: z.int().min(0),
  resealed: z.int().min(0),
  /** Secrets whose key is not in the ring; they are left unchanged. */
  unopened: z.int().min(0),
  next: z.int().min(1).nullable(),
});
export type ReencryptAnswer = z.output<typeof reencrypted>;

export const reencryptFactors = defineOperation({
  ...operator,
  body: reencrypt,
  answers: { 200: { schema: reencrypted } },
});

export const reencryptSecrets = defineOperation({
  ...operator,
  service: 'webhooks',
  body: reencrypt,
  answers: { 200: { schema: reencrypted } },
});

const count = z.int().min(0);

const companyStatus = z.object({
  company_id: id,
  /** MySQL's time; compare the other times with it. */
  now_utc: instant,
  events: z.object({ waiting: count, oldest_utc: instant.nullable() }),
  total: count,
  subscriptions: z.array(
    z.object({
      subscription_id: id,
      origin: z.string(),
      enabled: z.boolean(),
      disabled_reason: z.string().nullable(),
      consecutive_failures: count,
      waiting: count,
      held: count,
      missed: count,
      succeeded_24h: count,
      failed_24h: count,
      last_success_utc: instant.nullable(),
      next_due_utc: instant.nullable(),
      oldest: z
        .object({
          event_id: id,
          created_utc: instant,
          due_utc: instant.nullable(),
          attempts: count,
          last_status: z.int().nullable(),
          last_error: z.string().nullable(),
        })
        .nullable(),
    }),
  ),
});
export type CompanyStatusAnswer = z.output<typeof companyStatus>;

export const listDeliveriesByCompany = defineOperation({
  ...operator,
  service: 'webhooks',
  body: z.strictObject({}),
  answers: {
    200: {
      schema: z.object({
        companies: z.array(
          z.object({
            company_id: id,
            waiting: count,
            late_seconds: count,
            attempts_a_minute: count,
            missed: count,
          }),
        ),
      }),
    },
  },
});

export const listRequestsByCompany = defineOperation({
  ...operator,
  body: z.strictObject({}),
  answers: {
    200: {
      schema: z.object({
        companies: z.array(
          z.object({ company_id: id, name: z.string(), requests_a_minute: count, refused_a_minute: count }),
        ),
      }),
    },
  },
});

export const getCompanyStatus = defineOperation({
  ...operator,
  service: 'webhooks',
  body: z.strictObject({ company_id: recordId }),
  answers: { 200: { schema: companyStatus } },
});
