import { z } from 'zod';
import { defineOperation, scopes } from '../operation.ts';
import { credentialBodyBytes, roles } from '../portal.ts';
import { recordMissing } from '../schemas/records.ts';
import { rule } from '../schemas/rule.ts';
import { fieldName, text } from '../schemas/text.ts';
import { count, id, instant } from '../schemas/values.ts';
import * as f from './fields.ts';

const session = {
  service: 'access',
  deadlineMs: 10_000,
  query: null,
  params: {},
  maxBodyBytes: credentialBodyBytes,
} as const;

const limit = z.int().min(1).meta({ description: 'Requests a minute.' });

/** The signed-in member, their companies, and the settings that pages show. */
export const sessionFacts = z.object({
  user: z.object({
    id,
    email: z.string(),
    name: z.string(),
    role: z.enum(roles),
    totpEnabled: z.boolean(),
    recoveryCodesLeft: count,
  }),
  company: z.object({ id, name: z.string() }),
  /** Companies that the member can switch to without signing in again. */
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
    /** The session ends at this time, even while it is used. */
    expiresUtc: instant,
    idleTimeoutMs: z.int().min(1).meta({ description: 'It also ends after this time without a request.' }),
  }),
  keyPrefix: z.string().meta({ description: 'What every API key begins with.' }),
  scopes: z.array(z.enum(scopes)),
  limits: z.object({ read: limit, write: limit, admin: limit, lookup: limit.nullable() }),
  features: z.object({
    allowHttp: z.boolean().meta({ description: 'Subscriptions may have plain http URLs.' }),
    allowPrivate: z.boolean().meta({ description: 'Subscriptions may have private addresses.' }),
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

export const sessionExample = {
  user: {
    id: 7,
    email: 'katherine@example.com',
    name: 'Katherine Johnson',
    role: 'owner',
    totpEnabled: true,
    recoveryCodesLeft: 10,
  },
  company: { id: 1001, name: 'Brightwater Partners' },
  otherCompanies: [{ id: 1002, name: 'Harbour Legal', role: 'viewer', codeRequired: false }],
  session: {
    id: 3,
    createdUtc: '2026-01-15T09:30:00.000Z',
    expiresUtc: '2026-01-16T09:30:00.000Z',
    idleTimeoutMs: 28_800_000,
  },
  keyPrefix: 'crm',
  scopes: [...scopes],
  limits: { read: 60, write: 100, admin: 200, lookup: null },
  features: { allowHttp: false, allowPrivate: false },
  settings: { retentionDays: 30, retryForMs: 55_625_000 },
  baseUrl: null,
};

/** A second factor is either a code of the app or a recovery code. */
export const oneFactor = rule(({ totp, recoveryCode }) =>
  totp === undefined || recoveryCode === undefined
    ? undefined
    : { field: 'totp', message: 'either totp or recoveryCode can be given' },
);

const tooMany = {
  description: 'Too many attempts for this account or from this address; `retryAfter` in seconds.',
  example: { error: 'too many attempts; try again in 8 s', reason: 'too_many_attempts', retryAfter: 8 },
};

export const signIn = defineOperation({
  audience: 'member',
  ...session,
  id: 'signIn',
  method: 'POST',
  path: '/session',
  role: null,
  summary:
    'Sign in to every company in which this address has this password. If the answer has `mfaRequired`, send the same again with `totp` or `recoveryCode`.',
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
      description: 'Signed in, with the session in a cookie; or the second factor is missing.',
      schema: z.union([
        z.object({ mfaRequired: z.literal(true) }),
        sessionFacts.extend({ mfaRequired: z.literal(false) }),
      ]),
      example: { ...sessionExample, mfaRequired: false },
    },
  },
  errors: {
    401: {
      description: 'Wrong address, password (`wrong_credentials`) or second factor (`wrong_code`).',
      example: { error: 'the email address or the password is wrong', reason: 'wrong_credentials' },
    },
    429: tooMany,
  },
});

export const signOut = defineOperation({
  audience: 'member',
  ...session,
  id: 'signOut',
  method: 'DELETE',
  path: '/session',
  role: 'viewer',
  summary: 'End this session',
  body: null,
  answers: { 204: { description: 'Ended, and the cookie removed.', schema: null } },
  errors: {},
});

export const getSession = defineOperation({
  audience: 'member',
  ...session,
  id: 'getSession',
  method: 'GET',
  path: '/session',
  role: 'viewer',
  summary: 'Who is signed in',
  body: null,
  answers: { 200: { description: 'The session.', schema: sessionFacts, example: sessionExample } },
  errors: {},
});

export const switchCompany = defineOperation({
  audience: 'member',
  ...session,
  id: 'switchCompany',
  method: 'POST',
  path: '/session/company',
  role: 'viewer',
  summary: 'Switch to another company that this sign-in has opened',
  body: z
    .strictObject({
      companyId: id,
      totp: f.totpCode.optional(),
      recoveryCode: f.recoveryCode.optional(),
    })
    .check(oneFactor),
  answers: {
    200: {
      description: 'The session there, in a new cookie; the previous one no longer works.',
      schema: sessionFacts,
      example: sessionExample,
    },
  },
  errors: {
    400: {
      description: 'The code of the second factor is missing or wrong.',
      example: {
        error: 'the code is wrong',
        details: [{ field: 'totp', message: 'the code is wrong' }],
      },
    },
    404: recordMissing('company'),
    429: tooMany,
  },
});

const token = z.string().regex(/^[\w-]{20,100}$/, { error: `${fieldName} is not the token of a link` });
const gone = {
  description: 'The invitation was used or revoked, or has expired.',
  example: { error: 'the invitation was used or revoked, or has expired', reason: 'invitation_over' },
};

/** A POST, so that the token is in no URL and in no log. */
export const getInvitation = defineOperation({
  audience: 'member',
  ...session,
  id: 'getInvitation',
  method: 'POST',
  repeat: 'harmless',
  path: '/invitation',
  role: null,
  summary: 'Read an invitation',
  body: z.strictObject({ token }),
  answers: {
    200: {
      description: 'Who invites whom.',
      schema: z.object({
        email: z.string(),
        role: z.enum(roles),
        companyName: z.string(),
        invitedBy: z.string(),
        expiresUtc: instant,
      }),
      example: {
        email: 'dorothy@example.com',
        role: 'developer',
        companyName: 'Brightwater Partners',
        invitedBy: 'Katherine Johnson',
        expiresUtc: '2026-01-22T09:30:00.000Z',
      },
    },
  },
  errors: { 410: gone, 429: tooMany },
});

export const acceptInvitation = defineOperation({
  audience: 'member',
  ...session,
  id: 'acceptInvitation',
  method: 'POST',
  path: '/invitation/accept',
  role: null,
  summary: 'Join a company and sign in',
  body: z.strictObject({
    token,
    name: text({ min: 1, max: 100, oneLine: true }),
    password: f.newPassword,
  }),
  answers: {
    201: { description: 'Joined and signed in.', schema: sessionFacts, example: sessionExample },
  },
  errors: { 410: gone, 429: tooMany },
});

const resetGone = {
  description: 'The link was used or replaced, or has expired.',
  example: { error: 'the link was used or replaced, or has expired', reason: 'reset_over' },
};

/** A POST, as `getInvitation`. */
export const getPasswordReset = defineOperation({
  audience: 'member',
  ...session,
  id: 'getPasswordReset',
  method: 'POST',
  repeat: 'harmless',
  path: '/password-reset',
  role: null,
  summary: 'Read a password reset link',
  body: z.strictObject({ token }),
  answers: {
    200: {
      description: 'Whose password it is.',
      schema: z.object({ email: z.string(), companyName: z.string(), expiresUtc: instant }),
      example: {
        email: 'katherine@example.com',
        companyName: 'Brightwater Partners',
        expiresUtc: '2026-01-15T10:30:00.000Z',
      },
    },
  },
  errors: { 410: resetGone },
});

export const resetPassword = defineOperation({
  audience: 'member',
  ...session,
  id: 'resetPassword',
  method: 'POST',
  path: '/password-reset/complete',
  role: null,
  summary: 'Choose a new password; all sessions end, and signing in asks for the second factor as before',
  body: z.strictObject({ token, password: f.newPassword }),
  answers: { 204: { description: 'Changed; the link is used up.', schema: null } },
  errors: { 410: resetGone },
});
