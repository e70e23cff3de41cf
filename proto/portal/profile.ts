import { z } from 'zod';
import { defineOperation, memberDefaults } from '../operation.ts';
import { credentialBodyBytes } from '../portal.ts';
import { count, id, instant } from '../schemas/values.ts';
import * as f from './fields.ts';
import { sessionFacts } from './session.ts';

const profile = {
  ...memberDefaults,
  service: 'access',
  role: 'viewer',
  deadlineMs: 10_000,
  maxBodyBytes: credentialBodyBytes,
} as const;

export const updateProfile = defineOperation({
  ...profile,
  method: 'PATCH',
  path: '/profile',
  body: z.strictObject({ name: f.memberName }),
  answers: { 200: { schema: sessionFacts } },
});

/** The person’s other sessions end. */
export const changePassword = defineOperation({
  ...profile,
  method: 'POST',
  path: '/profile/password',
  body: z.strictObject({ currentPassword: f.password, newPassword: f.newPassword }),
  answers: { 204: { schema: null } },
});

/** It takes effect once confirmed. */
export const startTotp = defineOperation({
  ...profile,
  method: 'POST',
  path: '/profile/totp',
  freshProof: true,
  beforeFactor: true,
  answers: {
    200: {
      schema: z.object({
        secret: z.string().meta({ description: 'Base32.' }),
        uri: z.string().meta({ description: '`otpauth://totp/…`, for a QR code.' }),
      }),
    },
  },
});

const codes = { schema: z.object({ recoveryCodes: z.array(z.string()).min(1) }) };

/** The person’s other sessions end. */
export const confirmTotp = defineOperation({
  ...profile,
  method: 'POST',
  path: '/profile/totp/confirm',
  beforeFactor: true,
  body: z.strictObject({ code: f.totpCode }),
  answers: { 200: codes },
  errors: [409],
});

/** The person’s other sessions end. */
export const disableTotp = defineOperation({
  ...profile,
  method: 'POST',
  path: '/profile/totp/disable',
  freshProof: true,
  answers: { 204: { schema: null } },
  errors: [409],
});

/** Earlier codes stop working. */
export const regenerateRecoveryCodes = defineOperation({
  ...profile,
  method: 'POST',
  path: '/profile/recovery-codes',
  freshProof: true,
  answers: { 200: codes },
  errors: [409],
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

/** The caller’s first. */
export const listSessions = defineOperation({
  ...profile,
  method: 'GET',
  path: '/profile/sessions',
  answers: { 200: { schema: z.object({ sessions: z.array(sessionRecord) }) } },
});

export const revokeSession = defineOperation({
  ...profile,
  method: 'DELETE',
  path: '/profile/sessions/{id}',
  answers: { 204: { schema: null } },
});

export const revokeOtherSessions = defineOperation({
  ...profile,
  method: 'POST',
  path: '/profile/sessions/revoke-others',
  answers: { 200: { schema: z.object({ revoked: count }) } },
});
