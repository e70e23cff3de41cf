import { z } from 'zod';
import { defineOperation, memberDefaults } from '../operation.ts';
import { id, instant } from '../schemas/values.ts';
import * as f from './fields.ts';
import { oneFactor, sessionFacts } from './session.ts';

const passkeys = {
  ...memberDefaults,
  service: 'access',
  role: 'viewer',
  method: 'POST',
  beforeFactor: true,
  deadlineMs: 10_000,
  maxBodyBytes: 16 * 1024,
} as const;

/** Of a membership. */
export const maxPasskeys = 20;

/** As WebAuthn defines it, for `navigator.credentials`. The challenge works once, for five minutes. */
const options = z.record(z.string(), z.unknown());
const bytes = z.string().regex(/^[\w-]{1,12000}$/);
const credential = { id: bytes, rawId: bytes, type: z.literal('public-key') };
const rest = {
  authenticatorAttachment: z.string().max(50).nullish(),
  clientExtensionResults: z.record(z.string(), z.unknown()).default({}),
};

const assertion = z.strictObject({
  ...credential,
  ...rest,
  response: z.looseObject({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: bytes.optional(),
  }),
});

const passkey = z.object({ id, name: z.string(), createdUtc: instant, lastUsedUtc: instant.nullable() });

export const listPasskeys = defineOperation({
  ...passkeys,
  method: 'GET',
  path: '/profile/passkeys',
  answers: { 200: { schema: z.object({ passkeys: z.array(passkey).max(maxPasskeys) }) } },
});

export const startPasskey = defineOperation({
  ...passkeys,
  path: '/profile/passkeys/start',
  freshProof: true,
  repeat: 'harmless',
  answers: { 200: { schema: options } },
  errors: [409],
});

/** The person’s other sessions end. Recovery codes come with the first factor. */
export const addPasskey = defineOperation({
  ...passkeys,
  path: '/profile/passkeys',
  freshProof: true,
  body: z.strictObject({
    name: f.memberName,
    credential: z.strictObject({
      ...credential,
      ...rest,
      response: z.looseObject({
        clientDataJSON: bytes,
        attestationObject: bytes,
        transports: z
          .array(z.string().regex(/^[a-z-]{1,20}$/))
          .max(8)
          .optional(),
      }),
    }),
  }),
  answers: { 201: { schema: passkey.extend({ recoveryCodes: z.array(z.string()) }) } },
  errors: [409],
});

/** The person’s other sessions end. */
export const removePasskey = defineOperation({
  ...passkeys,
  method: 'DELETE',
  path: '/profile/passkeys/{id}',
  freshProof: true,
  beforeFactor: false,
  answers: { 204: { schema: null } },
  // The last factor, which the company requires.
  errors: [409],
});

export const startPasskeySignIn = defineOperation({
  ...passkeys,
  path: '/session/passkey/start',
  role: null,
  repeat: 'harmless',
  answers: { 200: { schema: options } },
  errors: [409],
});

/** Opens the membership of the passkey, without password and code. */
export const signInWithPasskey = defineOperation({
  ...passkeys,
  path: '/session/passkey',
  role: null,
  body: z.strictObject({ credential: assertion }),
  answers: { 200: { schema: sessionFacts } },
  errors: [409],
});

export const startProof = defineOperation({
  ...passkeys,
  path: '/session/proof/start',
  repeat: 'harmless',
  answers: { 200: { schema: options } },
  errors: [409],
});

/** What a sign-in asks for: a passkey, or the password and, with a second factor, a code. Then `freshProof` holds. */
export const proveIdentity = defineOperation({
  ...passkeys,
  path: '/session/proof',
  body: z
    .strictObject({
      password: f.password.optional(),
      totp: f.totpCode.optional(),
      recoveryCode: f.recoveryCode.optional(),
      credential: assertion.optional(),
    })
    .check(oneFactor),
  answers: { 204: { schema: null } },
  errors: [409],
});
