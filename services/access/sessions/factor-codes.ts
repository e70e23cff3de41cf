import { hash } from 'node:crypto';
import type { Trx } from '@causeway/runtime';
import { Secret, TOTP } from 'otpauth';
import type { AccessTables } from '../schema.ts';
import type { Membership } from './subjects.ts';

/** Time-based one-time passwords (RFC 6238) as every authenticator app makes them: SHA-1, 6 digits, 30 s. */

const period = 30;

/** A new secret: 160 bits (RFC 4226, section 4), in base32. */
export const newTotpSecret = (random: (bytes: number) => Uint8Array): string =>
  new Secret({ buffer: Uint8Array.from(random(20)).buffer }).base32;

export const totpUri = (issuer: string, account: string, secret: string): string =>
  new TOTP({ issuer, label: account, secret, period }).toString();

/** The time step of a code: the current one, or one beside it, because clocks differ. Null for any other code. */
export const totpStep = (secret: string, code: string, now: Date): number | null => {
  const timestamp = now.getTime();
  const delta = new TOTP({ secret, period }).validate({ token: code, timestamp, window: 1 });
  return delta === null ? null : TOTP.counter({ period, timestamp }) + delta;
};

export const totpCode = (secret: string, step: number): string =>
  new TOTP({ secret, period }).generate({ timestamp: step * period * 1000 });

/** Each of 80 random bits. */
const codesAtOnce = 10;
/** 32 characters, without those that look alike. */
const alphabet = '23456789abcdefghjkmnpqrstuvwxyz0';

/** @returns the new codes, which can be shown only now. */
export const replaceRecoveryCodes = async (
  trx: Trx<AccessTables>,
  { companyId, userId }: Membership,
  random: (bytes: number) => Uint8Array,
): Promise<string[]> => {
  const codes = Array.from({ length: codesAtOnce }, () => newCode(random));
  await deleteRecoveryCodes(trx, { companyId, userId });
  await trx
    .insertInto('portal_recovery_codes')
    .values(codes.map((code) => ({ company_id: companyId, user_id: userId, code_hash: hashCode(code) })))
    .execute();
  return codes;
};

export const deleteRecoveryCodes = async (
  trx: Trx<AccessTables>,
  { companyId, userId }: Membership,
): Promise<void> => {
  await trx
    .deleteFrom('portal_recovery_codes')
    .where('company_id', '=', companyId)
    .where('user_id', '=', userId)
    .execute();
};

/** @returns whether the code was valid. If two requests send the same code, only one succeeds. */
export const takeRecoveryCode = async (
  trx: Trx<AccessTables>,
  { companyId, userId }: Membership,
  code: string,
): Promise<boolean> => {
  const { numDeletedRows } = await trx
    .deleteFrom('portal_recovery_codes')
    .where('company_id', '=', companyId)
    .where('user_id', '=', userId)
    .where('code_hash', '=', hashCode(code))
    .executeTakeFirst();
  return numDeletedRows === 1n;
};

const newCode = (random: (bytes: number) => Uint8Array): string =>
  [...random(16)]
    .map((byte) => alphabet[byte % 32])
    .join('')
    .replace(/(.{4})(?!$)/g, '$1-');

const hashCode = (code: string): Buffer =>
  hash('sha256', code.toLowerCase().replace(/[^a-z0-9]/g, ''), 'buffer');
