import { createHash, timingSafeEqual } from 'node:crypto';
import { challengeType, type SubscriptionRow } from '@causeway/proto';
import { type Sending, sendNow } from '../subscriptions/send-now.ts';

/**
 * Sends a challenge to the subscription's receiver and waits for the answer. The challenge exists only in this call and
 * in the request, so only the receiver learns it.
 * @returns the URL that was called, and why its receiver did not prove itself, as a sentence; null if it did.
 * @throws Problem if no challenge was sent.
 */
export const sendChallenge = async (
  context: Parameters<typeof sendNow>[0],
  { company_id, subscription_id }: Pick<SubscriptionRow, 'company_id' | 'subscription_id'>,
  deadlineMs: number,
): Promise<{ readonly url: string; readonly failure: string | null }> => {
  const challenge = Buffer.from(context.random(challengeBytes)).toString('base64url');
  const sending: Sending = {
    companyId: company_id,
    subscriptionId: subscription_id,
    type: challengeType,
    payload: { challenge },
  };
  const { attempt } = await sendNow(context, sending, deadlineMs);
  const { url, status_code, error_class, error, response_body } = attempt;
  if (error_class !== null) return { url, failure: error };
  const body = Buffer.from(response_body ?? '', 'base64').toString();
  const failure = echoes(body, challenge)
    ? null
    : `The receiver answered ${status_code} without the challenge.`;
  return { url, failure };
};

const challengeBytes = 32;

/**
 * Whether the body is JSON with the challenge in its member `challenge`. The request has it one level deeper, in
 * `payload`, so that a server that echoes every request does not pass.
 */
const echoes = (body: string, challenge: string): boolean => {
  try {
    const answer: unknown = JSON.parse(body);
    const echo = (answer as { challenge?: unknown } | null)?.challenge;
    return typeof echo === 'string' && timingSafeEqual(hash(echo), hash(challenge));
  } catch {
    return false;
  }
};

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
