import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from '@causeway/proto';

/**
 * Marks what `access` hands out to browsers, so that made-up values are refused by a computation of microseconds
 * and not by a query. HMAC-SHA-256 under keys derived from the portal's ring: the first signs, all verify.
 */
export interface Signer {
  /** @param bytes of the mark, at most 32. */
  sign(text: string, bytes: number): Buffer;
  verify(text: string, mark: Buffer): boolean;
}

/** @param purpose a mark for one purpose is none for another. */
export const createSigner = (keyRing: KeyRing, purpose: string): Signer => {
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
