import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from '@causeway/proto';

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
