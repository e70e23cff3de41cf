import { type BodyOf, contract, type EventType, invalid, problem, samplePayload } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readSubscription, type SubscriptionRecord } from './record.ts';
import { type SentTest, sendNow } from './send-now.ts';

export const testSubscription = (context: WebhooksContext) =>
  handler(contract.testSubscription, async (call) => {
    const { companyId, body, identity } = call;
    const id = call.id('subscription');
    const earlier = await context.once.find(identity);
    if (earlier) return earlier;
    const { attempt } = await sendTest(context, companyId, id, body, call.deadlineMs);
    const answer = json(200, {
      success: attempt.error_class === null,
      statusCode: attempt.status_code,
      elapsedMs: attempt.elapsed_ms,
      responseBodyTruncated: attempt.response_truncated === 1,
      responseBody: textOf(Buffer.from(attempt.response_body ?? '', 'base64')),
      targetUrlUsed: calledUrl(attempt.url),
      error: attempt.error_class,
      message: attempt.error,
    });
    return context.once.carryOut(identity, async () => answer);
  });

/** The URL as it is requested: normalised, without the fragment, which is never sent. */
const calledUrl = (url: string): string => {
  const called = new URL(url);
  called.hash = '';
  return called.href;
};

/** The response body as text. It may have been cut between bytes, so half a character at the end is left out. */
const textOf = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });

/**
 * Asks a dispatcher to send a test delivery, and waits for the result.
 * @param deadlineMs `performance.now()` after which the caller no longer waits.
 * @throws Problem
 */
export const sendTest = async (
  context: WebhooksContext,
  companyId: number,
  subscriptionId: number,
  body: BodyOf<(typeof contract)['testSubscription']>,
  deadlineMs: number,
): Promise<SentTest> => {
  const subscription = await readSubscription(context.db, companyId, subscriptionId);
  const type = typeToTest(subscription, body.eventType);
  const payload = body.samplePayload ?? sample(type, context.now());
  const metadata = { test: true, status: body.statusOverride ?? null };
  return sendNow(context, { companyId, subscriptionId, type, payload, metadata }, deadlineMs);
};

const typeToTest = ({ event_types }: SubscriptionRecord, asked: string | null | undefined): EventType => {
  const type = asked == null ? event_types[0] : event_types.find((one) => one === asked);
  if (type) return type;
  const message = `the subscription does not include the event type ${asked}`;
  throw invalid([{ field: 'eventType', message }], { subscribedEventTypes: event_types });
};

const sample = (type: EventType, now: Date): unknown => {
  try {
    return samplePayload(type, now);
  } catch (cause) {
    throw problem('sample_payload_failed', cause);
  }
};
