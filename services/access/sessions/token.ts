import { hash } from 'node:crypto';
import type { Signer } from './signer.ts';

/** A secret of 256 random bits, for invitation and reset links. */
export const newToken = (random: (bytes: number) => Uint8Array): string =>
  Buffer.from(random(32)).toString('base64url');

/** A session token for the cookie: 192 random bits and a signature of 64 bits. */
export const newSessionToken = (random: (bytes: number) => Uint8Array, signer: Signer): string => {
  const secret = Buffer.from(random(secretBytes));
  return Buffer.concat([secret, signer.sign(secret.toString('base64url'), markBytes)]).toString('base64url');
};

/** Whether this service made the token. The session may have ended since. */
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
