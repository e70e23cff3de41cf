import { hash } from 'node:crypto';
import type { Signer } from './signer.ts';

/** A secret of 256 random bits, as invitation links carry it. */
export const newToken = (random: (bytes: number) => Uint8Array): string =>
  Buffer.from(random(32)).toString('base64url');

/** A session's token, as the cookie carries it: 192 random bits and a mark of 64 by which it is known as ours. */
export const newSessionToken = (random: (bytes: number) => Uint8Array, signer: Signer): string => {
  const secret = Buffer.from(random(secretBytes));
  return Buffer.concat([secret, signer.sign(secret.toString('base64url'), markBytes)]).toString('base64url');
};

/** Whether a session's token was made here. It may have ended since. */
export const isSessionToken = (token: string, signer: Signer): boolean => {
  const bytes = Buffer.from(token, 'base64url');
  return (
    bytes.length === secretBytes + markBytes &&
    signer.verify(bytes.subarray(0, secretBytes).toString('base64url'), bytes.subarray(secretBytes))
  );
};

/** What is stored of a token. Plain SHA-256 is enough: there is nothing to guess. */
export const hashToken = (token: string): Buffer => hash('sha256', token, 'buffer');

const secretBytes = 24;
const markBytes = 8;
