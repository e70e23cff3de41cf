import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { credentialBodyBytes } from '../portal.ts';
import { recordMissing } from '../schemas/records.ts';
import { count, id, instant } from '../schemas/values.ts';
import * as f from './fields.ts';
import { oneFactor, sessionExample, sessionFacts } from './session.ts';

const profile = {
  service: 'access',
  role: 'viewer',
  deadlineMs: 10_000,
  query: null,
  params: {},
  maxBodyBytes: credentialBodyBytes,
} as const;

const wrongPassword = {
  description: 'The password is wrong, or too many were tried (429).',
  example: {
    error: 'the password is wrong',
    details: [{ field: 'password', message: 'the password is wrong' }],
  },
};

export const updateProfile = defineOperation({
  audience: 'member',
  ...profile,
  id: 'updateProfile',
  method: 'PATCH',
  path: '/profile',
  summary: 'Change your name',
  body: z.strictObject({ name: f.memberName }),
  answers: { 200: { description: 'The session.', schema: sessionFacts, example: sessionExample } },
  errors: {},
});

export const changePassword = defineOperation({
  audience: 'member',
  ...profile,
  id: 'changePassword',
  method: 'POST',
  path: '/profile/password',
  summary: 'Change your password; your other sessions end',
  body: z.strictObject({ currentPassword: f.password, newPassword: f.newPassword }),
  answers: { 204: { description: 'Changed.', schema: null } },
  errors: { 400: wrongPassword },
});

export const startTotp = defineOperation({
  audience: 'member',
  ...profile,
  id: 'startTotp',
  method: 'POST',
  path: '/profile/totp',
  summary: 'Get a new secret for an authenticator app; it takes effect once confirmed',
  body: z.strictObject({ password: f.password }),
  answers: {
    200: {
      description: 'The secret, to scan or type. Shown in this answer only.',
      schema: z.object({
        secret: z.string().meta({ description: 'Base32.' }),
        uri: z.string().meta({ description: '`otpauth://totp/…`, for a QR code.' }),
      }),
      example: {
        secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
        uri: 'otpauth://totp/Causeway:katherine%40example.com?issuer=Causeway&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30',
      },
    },
  },
  errors: { 400: wrongPassword },
});

const codes = {
  schema: z.object({ recoveryCodes: z.array(z.string()).min(1) }),
  example: { recoveryCodes: ['k7m2-qx9d-4hwp-c3rn'] },
};

export const confirmTotp = defineOperation({
  audience: 'member',
  ...profile,
  id: 'confirmTotp',
  method: 'POST',
  path: '/profile/totp/confirm',
  summary: 'Turn the second factor on with a first code; your other sessions end',
  body: z.strictObject({ code: f.totpCode }),
  answers: { 200: { description: 'On. The recovery codes are shown in this answer only.', ...codes } },
  errors: {
    400: {
      description: 'The code is wrong.',
      example: {
        error: 'the code is wrong',
        details: [{ field: 'code', message: 'the code is wrong' }],
      },
    },
    409: {
      description: 'No secret was requested.',
      example: { error: 'ask for a new secret first', reason: 'conflict' },
    },
  },
});

/** Changing the second factor needs the password and the factor itself. */
const passwordAndFactor = z
  .strictObject({
    password: f.password,
    totp: f.totpCode.optional(),
    recoveryCode: f.recoveryCode.optional(),
  })
  .check(oneFactor);
const wrongFactor = {
  description: 'The password or the code is missing or wrong, or too many were tried (429).',
  example: {
    error: 'the code is wrong',
    details: [{ field: 'totp', message: 'the code is wrong' }],
  },
};

export const disableTotp = defineOperation({
  audience: 'member',
  ...profile,
  id: 'disableTotp',
  method: 'POST',
  path: '/profile/totp/disable',
  summary: 'Turn the second factor off; your other sessions end',
  body: passwordAndFactor,
  answers: { 204: { description: 'Off.', schema: null } },
  errors: {
    400: wrongFactor,
    409: {
      description: 'The second factor is off.',
      example: { error: 'two-factor sign-in is off', reason: 'conflict' },
    },
  },
});

export const regenerateRecoveryCodes = defineOperation({
  audience: 'member',
  ...profile,
  id: 'regenerateRecoveryCodes',
  method: 'POST',
  path: '/profile/recovery-codes',
  summary: 'Get new recovery codes; earlier ones stop working',
  body: passwordAndFactor,
  answers: { 200: { description: 'Shown in this answer only.', ...codes } },
  errors: {
    400: wrongFactor,
    409: {
      description: 'The second factor is off.',
      example: { error: 'two-factor sign-in is off', reason: 'conflict' },
    },
  },
});

const sessionRecord = z.object({
  id,
  createdUtc: instant,
  lastUsedUtc: instant,
  expiresUtc: instant,
  address: z.string(),
  userAgent: z.string(),
  current: z.boolean(),
});

export const listSessions = defineOperation({
  audience: 'member',
  ...profile,
  id: 'listSessions',
  method: 'GET',
  path: '/profile/sessions',
  summary: 'Your open sessions, this one first',
  body: null,
  answers: {
    200: {
      description: 'The sessions.',
      schema: z.object({ sessions: z.array(sessionRecord) }),
      example: {
        sessions: [
          {
            id: 3,
            createdUtc: '2026-01-15T09:30:00.000Z',
            lastUsedUtc: '2026-01-15T11:02:00.000Z',
            expiresUtc: '2026-01-16T09:30:00.000Z',
            address: '203.0.113.7',
            userAgent: 'Mozilla/5.0',
            current: true,
          },
        ],
      },
    },
  },
  errors: {},
});

export const revokeSession = defineOperation({
  audience: 'member',
  ...profile,
  id: 'revokeSession',
  method: 'DELETE',
  path: '/profile/sessions/{id}',
  params: { id: 'ID of the session.' },
  summary: 'End one of your sessions; once this is answered, every gateway refuses it',
  body: null,
  answers: { 204: { description: 'Ended.', schema: null } },
  errors: { 404: recordMissing('session') },
});

export const revokeOtherSessions = defineOperation({
  audience: 'member',
  ...profile,
  id: 'revokeOtherSessions',
  method: 'POST',
  path: '/profile/sessions/revoke-others',
  summary: 'End all your sessions but this one',
  body: null,
  answers: {
    200: { description: 'How many ended.', schema: z.object({ revoked: count }), example: { revoked: 2 } },
  },
  errors: {},
});
