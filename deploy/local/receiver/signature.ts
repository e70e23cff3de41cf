import { createHmac, timingSafeEqual } from 'node:crypto';

export type Verdict = 'valid' | 'invalid' | 'stale' | 'unsigned' | 'unchecked';

const toleranceMs = 300_000;

/** Checks `X-Webhook-Signature` (contract, "Deliveries"), sharing no code with the sender. */
export const verdictOn = (
  secrets: readonly string[],
  timestamp: string,
  signature: string,
  body: Buffer,
  nowMs: number,
): Verdict => {
  if (!timestamp || !signature) return 'unsigned';
  if (secrets.length === 0) return 'unchecked';
  const signatures = signature.split(',').map((one) => Buffer.from(one.trim()));
  const valid = secrets.some((secret) => {
    const digest = createHmac('sha256', secret).update(timestamp).update('.').update(body).digest('hex');
    const wanted = Buffer.from(`sha256=${digest}`);
    return signatures.some((one) => one.length === wanted.length && timingSafeEqual(one, wanted));
  });
  if (!valid) return 'invalid';
  return Math.abs(nowMs - Number(timestamp) * 1000) > toleranceMs ? 'stale' : 'valid';
};
