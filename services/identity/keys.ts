import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * `<prefix>_<company id>_<secret>` (contract, "Identifiers, keys, scopes"). The secret has 34 random base-62
 * characters, then a checksum of 6 over everything before them, so that made-up keys are refused without a
 * look-up and secret scanners can recognise our keys.
 */

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomCharacters = 34;
const checksumCharacters = 6;
const secretCharacters = randomCharacters + checksumCharacters;
const maxCompanyDigits = 15;

/** @param random a cryptographically secure source of bytes, such as `crypto.randomBytes`. */
export const createKeyValue = ({ prefix, companyId, random }: NewKey): string => {
  const start = `${prefix}_${companyId}_${randomText(random, alphabet, randomCharacters)}`;
  return start + checksum(start);
};

/** @returns null for text that cannot be a key. A key that parses may still not exist. */
export const parseKeyValue = (text: string, prefix: string): { readonly companyId: number } | null => {
  const companyAt = prefix.length + 1;
  const secretAt = text.length - secretCharacters;
  const digits = secretAt - 1 - companyAt;
  if (digits < 1 || digits > maxCompanyDigits) return null;
  if (!text.startsWith(prefix) || text.charCodeAt(prefix.length) !== underscore) return null;
  if (text.charCodeAt(secretAt - 1) !== underscore) return null;

  let companyId = 0;
  for (let at = companyAt; at < secretAt - 1; at++) {
    const digit = text.charCodeAt(at) - zero;
    if (digit < 0 || digit > 9) return null;
    companyId = companyId * 10 + digit;
  }
  // A leading zero would give a company's keys a second spelling.
  if (text.charCodeAt(companyAt) === zero) return null;
  for (let at = secretAt; at < text.length; at++) if (!isBase62(text.charCodeAt(at))) return null;

  const checksumAt = text.length - checksumCharacters;
  return text.endsWith(checksum(text.slice(0, checksumAt))) ? { companyId } : null;
};

/** SHA-256 of the whole key, base64url. Keys are stored and looked up under this hash. */
export const hashKeyValue = (value: string): string => hash('sha256', value, 'base64url');

export const lastFour = (value: string): string => value.slice(-4);

/** Example: `crm_1001_…x7Qa`. */
export const maskKey = ({ prefix, companyId, last4 }: MaskedKey): string =>
  `${prefix}_${companyId}_…${last4}`;

const underscore = 95;
const zero = 48;
const isBase62 = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);

const checksum = (text: string): string => {
  let rest = crc32(text);
  let out = '';
  for (let at = 0; at < checksumCharacters; at++) {
    out = alphabet[rest % 62] + out;
    rest = Math.floor(rest / 62);
  }
  return out;
};

/** Skips the bytes that would make the first characters of the alphabet more likely. */
export const randomText = (random: NewKey['random'], alphabet: string, length: number): string => {
  const fair = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < length)
    for (const byte of random(length))
      if (byte < fair && text.length < length) text += alphabet[byte % alphabet.length];
  return text;
};

export interface NewKey {
  readonly prefix: string;
  readonly companyId: number;
  readonly random: (bytes: number) => Uint8Array;
}

interface MaskedKey {
  readonly prefix: string;
  readonly companyId: number;
  readonly last4: string;
}
