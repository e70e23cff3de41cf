import { createHmac } from 'node:crypto';

/** Only the signing threads hold an open secret. */
export interface OpenSecret {
  readonly text: Buffer;
  /** The decoded bytes after `whsec_`. */
  readonly bytes: Buffer;
}

export const openedSecret = (secret: string): OpenSecret => ({
  text: Buffer.from(secret),
  bytes: Buffer.from(secret.replace(/^whsec_/, ''), 'base64'),
});

/** Contract, "Deliveries": hex HMAC-SHA256, keyed with the whole secret, of `<timestamp>.<body>`. */
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

/** Standard Webhooks, "Signature scheme": base64 HMAC-SHA256 of `<id>.<timestamp>.<body>`. */
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
