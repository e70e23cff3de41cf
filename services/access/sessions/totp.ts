import { Secret, TOTP } from 'otpauth';

/** Time-based one-time passwords (RFC 6238) as every authenticator app makes them: SHA-1, 6 digits, 30 s. */

const period = 30;

/** A new secret: 160 bits (RFC 4226, section 4), in base32. */
export const newTotpSecret = (random: (bytes: number) => Uint8Array): string =>
  new Secret({ buffer: Uint8Array.from(random(20)).buffer }).base32;

/** The URI in the QR code for an authenticator app. */
export const totpUri = (issuer: string, account: string, secret: string): string =>
  new TOTP({ issuer, label: account, secret, period }).toString();

/**
 * Finds the time step that a code belongs to: the current one, or the one before or after, because clocks differ.
 * Compares in constant time.
 * @returns null for any other code.
 */
export const totpStep = (secret: string, code: string, now: Date): number | null => {
  const timestamp = now.getTime();
  const delta = new TOTP({ secret, period }).validate({ token: code, timestamp, window: 1 });
  return delta === null ? null : TOTP.counter({ period, timestamp }) + delta;
};

/** The code of a time step. */
export const totpCode = (secret: string, step: number): string =>
  new TOTP({ secret, period }).generate({ timestamp: step * period * 1000 });
