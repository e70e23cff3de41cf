import { createHmac } from 'node:crypto';

/** A signing secret in the forms that the two schemes use. Only the signing threads hold one. */
export interface OpenSecret {
  /** The whole text as shown to its owner. */
  readonly text: Buffer;
  /** The decoded bytes after `whsec_`. */
  readonly bytes: Buffer;
}

export const openedSecret = (secret: string): OpenSecret => ({
  text: Buffer.from(secret),
  bytes: Buffer.from(secret.replace(/^whsec_/, ''), 'base64'),
});

/**
 * `X-Webhook-Signature` (contract, "Deliveries"): `sha256=` and the hex HMAC-SHA256, keyed with the
 * whole secret, of `<timestamp>.<body>`; one for each secret, separated by a comma.
 */
export const signatureHeader = (
  secrets: readonly OpenSecret[],
  timestamp: number,
  body: Uint8Array,
): string =>
  secrets
    .map(
      ({ text }) => `sha256=${createHmac('sha256', text).update(`${timestamp}.`).update(body).digest('hex')}`,
    )
    .join(',');

/**
 * `webhook-signature` (Standard Webhooks, "Signature scheme"): `v1,` and the base64 HMAC-SHA256, keyed with the
 * secret's bytes, of `<id>.<timestamp>.<body>`; one for each secret, separated by a space.
 */
export const standardSignatureHeader = (
  secrets: readonly OpenSecret[],
  id: number,
  timestamp: number,
  body: Uint8Array,
): string =>
  secrets
    .map(
      ({ bytes }) =>
        `v1,${createHmac('sha256', bytes).update(`${id}.${timestamp}.`).update(body).digest('base64')}`,
    )
    .join(' ');
