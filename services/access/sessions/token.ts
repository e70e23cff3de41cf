import { createHmac, hash, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from '@causeway/runtime';

/** A secret of 256 random bits, for invitation and reset links. */
export const newToken = (random: (bytes: number) => Uint8Array): string =>
  Buffer.from(random(32)).toString('base64url');

/** A session token for the cookie: 192 random bits and a signature of 64 bits. */
export const newSessionToken = (random: (bytes: number) => Uint8Array, signer: Signer): string => {
  const secret = Buffer.from(random(secretBytes));
  return Buffer.concat([secret, signer.sign(secret.toString('base64url'), markBytes)]).toString('base64url');
};

/** The session may have ended since. */
export const isSessionToken = (token: string, signer: Signer): boolean => {
  const bytes = Buffer.from(token, 'base64url');
  return (
    bytes.length === secretBytes + markBytes &&
    signer.verify(bytes.subarray(0, secretBytes).toString('base64url'), bytes.subarray(secretBytes))
  );
};

/** The stored form of a token. Plain SHA-256 is enough for random tokens. */
export const hashToken = (token: string): Buffer => hash('sha256', token, 'buffer');

const secretBytes = 24;
const markBytes = 8;

/**
 * Signs what `access` hands out to browsers, so that microseconds of computation, and no query, refuse made-up
 * values. HMAC-SHA-256 under keys derived from the portal's ring: the first signs, all verify.
 */
export interface Signer {
  /** @param bytes length of the signature, at most 32. */
  sign(text: string, bytes: number): Buffer;
  verify(text: string, mark: Buffer): boolean;
}

/** @param purpose a signature for one purpose is not valid for another. */
export const createTokenSigner = (keyRing: KeyRing, purpose: string): Signer => {
  const derived = derivedKeys(keyRing, purpose);
  const mark = (key: Buffer, text: string, bytes: number): Buffer =>
    createHmac('sha256', key).update(text).digest().subarray(0, bytes);
  return {
    sign: (text, bytes) => mark(derived[0]!, text, bytes),
    verify: (text, given) => derived.some((key) => timingSafeEqual(mark(key, text, given.length), given)),
  };
};

export const derivedKeys = ({ keys }: KeyRing, purpose: string): readonly Buffer[] =>
  [...keys.values()].map((key) => Buffer.from(hkdfSync('sha256', key, '', purpose, 32)));
