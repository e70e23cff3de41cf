import { hash } from 'node:crypto';

/** A secret of 256 random bits, as cookies and invitation links carry it. */
export const newToken = (random: (bytes: number) => Uint8Array): string =>
  Buffer.from(random(32)).toString('base64url');

/** What is stored of it. Plain SHA-256 is enough: there is nothing to guess. */
export const hashToken = (token: string): Buffer => hash('sha256', token, 'buffer');
