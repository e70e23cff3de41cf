import { createHmac, timingSafeEqual } from 'node:crypto';

export type Verdict = 'valid' | 'invalid' | 'stale' | 'unsigned' | 'unchecked';

/** How old a signature may be, as receivers are advised to hold it. */
const toleranceMs = 300_000;

/**
 * Checks `X-Webhook-Signature` as the contract tells a receiver to ("Deliveries"), sharing no code
 * with the sender: the hex HMAC-SHA256 of `<timestamp>.<raw body>`, one of several where secrets overlap.
 */
export const verdictOn = (
  secrets: readonly string[],
  timestamp: string,
  signature: string,
  body: Buffer,
  nowMs: number,
): Verdict => {
  if (!timestamp || !signature) return 'unsigned';
  if (secrets.length === 0) return 'unchecked';
  const given = signature.split(',').map((one) => Buffer.from(one.trim()));
  const valid = secrets.some((secret) => {
    const digest = createHmac('sha256', secret).update(timestamp).update('.').update(body).digest('hex');
    const wanted = Buffer.from(`sha256=${digest}`);
    return given.some((one) => one.length === wanted.length && timingSafeEqual(one, wanted));
  });
  if (!valid) return 'invalid';
  return Math.abs(nowMs - Number(timestamp) * 1000) > toleranceMs ? 'stale' : 'valid';
};
