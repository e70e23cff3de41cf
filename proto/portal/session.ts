import { z } from 'zod';
import { defineOperation, memberDefaults, scopes } from '../operation.ts';
import { credentialBodyBytes, roles } from '../portal.ts';
import { count, fieldName, id, instant, rule, text } from '../schemas/values.ts';
import * as f from './fields.ts';

const session = {
  ...memberDefaults,
  service: 'access',
  deadlineMs: 10_000,
  maxBodyBytes: credentialBodyBytes,
} as const;

const limit = z.int().min(1).meta({ description: 'Requests a minute.' });

export const sessionFacts = z.object({
  user: z.object({
    id,
    email: z.string(),
    name: z.string(),
    role: z.enum(roles),
    totpEnabled: z.boolean(),
    passkeys: count,
    recoveryCodesLeft: count,
  }),
  company: z.object({
    id,
    name: z.string(),
    secondFactorRequired: z
      .boolean()
      .meta({ description: 'Members who have none can do nothing but set one up.' }),
  }),
  otherCompanies: z.array(
    z.object({
      id,
      name: z.string(),
      role: z.enum(roles),
      codeRequired: z
        .boolean()
        .meta({ description: 'Switching requires a code of the second factor that the member has there.' }),
    }),
  ),
  session: z.object({
    id,
    createdUtc: instant,
    expiresUtc: instant,
    idleTimeoutMs: z.int().min(1).meta({ description: 'It also ends after this time without a request.' }),
  }),
  keyPrefix: z.string().meta({ description: 'What every API key begins with.' }),
  scopes: z.array(z.enum(scopes)),
  limits: z.object({ read: limit, write: limit, admin: limit, lookup: limit.nullable() }),
  features: z.object({
    allowHttp: z.boolean().meta({ description: 'Subscriptions may have plain http URLs.' }),
    allowPrivate: z.boolean().meta({ description: 'Subscriptions may have private addresses.' }),
    passkeyHost: z
      .string()
      .nullable()
      .meta({ description: 'Under which passkeys work; null: the installation has none.' }),
  }),
  settings: z.object({
    retentionDays: z.int().min(1).meta({ description: 'How long events and deliveries are kept.' }),
    retryForMs: z.int().min(0).meta({ description: 'How long a failing delivery is retried.' }),
  }),
  baseUrl: z
    .string()
    .nullable()
    .meta({ description: 'Where the interface is reached; null: at the origin of the portal itself.' }),
});

export const oneFactor = rule(({ totp, recoveryCode }) =>
  totp === undefined || recoveryCode === undefined
    ? undefined
    : { field: 'totp', code: 'must_agree', message: 'either totp or recoveryCode can be given' },
);

/** For every company where the address has this password. After `mfaRequired`, send the same with a code. */
export const signIn = defineOperation({
  ...session,
  method: 'POST',
  path: '/session',
  role: null,
  body: z
    .strictObject({
      email: z
        .string()
        .trim()
        .min(1, { error: `${fieldName} is required` })
        .max(254),
      password: z
        .string()
        .min(1, { error: `${fieldName} is required` })
        .max(1000),
      totp: f.totpCode.optional(),
      recoveryCode: f.recoveryCode.optional(),
    })
    .check(oneFactor),
  answers: {
    200: {
      schema: z.union([
        z.object({
          mfaRequired: z.literal(true),
          totp: z.boolean().meta({ description: 'A code of an authenticator app is accepted.' }),
          passkey: z.boolean().meta({ description: 'A passkey, which needs no password, is accepted.' }),
        }),
        sessionFacts.extend({ mfaRequired: z.literal(false) }),
      ]),
    },
  },
});

export const signOut = defineOperation({
  ...session,
  beforeFactor: true,
  method: 'DELETE',
  path: '/session',
  role: 'viewer',
  answers: { 204: { schema: null } },
});

export const getSession = defineOperation({
  ...session,
  beforeFactor: true,
  method: 'GET',
  path: '/session',
  role: 'viewer',
  answers: { 200: { schema: sessionFacts } },
});

export const switchCompany = defineOperation({
  ...session,
  beforeFactor: true,
  method: 'POST',
  path: '/session/company',
  role: 'viewer',
  body: z
    .strictObject({
      companyId: id,
      totp: f.totpCode.optional(),
      recoveryCode: f.recoveryCode.optional(),
    })
    .check(oneFactor),
  answers: { 200: { schema: sessionFacts } },
});

const token = z.string().regex(/^[\w-]{20,100}$/, { error: `${fieldName} is not the token of a link` });

/** A POST, so that the token is in no URL and in no log. */
export const getInvitation = defineOperation({
  ...session,
  method: 'POST',
  repeat: 'harmless',
  path: '/invitation',
  role: null,
  body: z.strictObject({ token }),
  answers: {
    200: {
      schema: z.object({
        email: z.string(),
        role: z.enum(roles),
        companyName: z.string(),
        invitedBy: z.string(),
        expiresUtc: instant,
      }),
    },
  },
  errors: [410],
});

export const acceptInvitation = defineOperation({
  ...session,
  method: 'POST',
  path: '/invitation/accept',
  role: null,
  body: z.strictObject({
    token,
    name: text({ min: 1, max: 100, oneLine: true }),
    password: f.newPassword,
  }),
  answers: { 201: { schema: sessionFacts } },
  errors: [410],
});

/** A POST, as `getInvitation`. */
export const getPasswordReset = defineOperation({
  ...session,
  method: 'POST',
  repeat: 'harmless',
  path: '/password-reset',
  role: null,
  body: z.strictObject({ token }),
  answers: { 200: { schema: z.object({ email: z.string(), companyName: z.string(), expiresUtc: instant }) } },
  errors: [410],
});

/** All sessions end, and signing in asks for the second factor as before. */
export const resetPassword = defineOperation({
  ...session,
  method: 'POST',
  path: '/password-reset/complete',
  role: null,
  body: z.strictObject({ token, password: f.newPassword }),
  answers: { 204: { schema: null } },
  errors: [410],
});
