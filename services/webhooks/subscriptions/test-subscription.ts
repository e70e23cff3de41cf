import {
  type BodyOf,
  contract,
  type EventType,
  encodeEnvelope,
  internalError,
  invalid,
  parseCall,
  parseId,
  problem,
  samplePayload,
  type TestDelivery,
  type TestDeliveryAnswer,
  testDeliverySubject,
} from '@causeway/proto';
import { each, type Handler, json } from '@causeway/runtime';
import { askService } from '../ask-service.ts';
import type { WebhooksContext } from '../context.ts';
import { readSubscription, type SubscriptionRecord } from './record.ts';

export const testSubscription = (context: WebhooksContext): Handler =>
  each(async (call) => {
    const { body } = parseCall(contract.testSubscription, call);
    const id = parseId(call.params[0], 'subscription');
    const { attempt } = await sendTest(context, call.tenant, id, body, call.deadlineMs);
    return json(200, {
      success: attempt.error_class === null,
      statusCode: attempt.status_code,
      elapsedMs: attempt.elapsed_ms,
      responseBodyTruncated: attempt.response_truncated === 1,
      responseBody: textOf(Buffer.from(attempt.response_body ?? '', 'base64')),
      targetUrlUsed: calledUrl(attempt.url),
      error: attempt.error_class,
      message: attempt.error,
    });
  });

/** The URL as the request names it: normalised, and without the fragment, which is never sent. */
const calledUrl = (url: string): string => {
  const called = new URL(url);
  called.hash = '';
  return called.href;
};

/** What was cut is cut between bytes: half a character at the end is left out. */
const textOf = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });

/** The attempt as the dispatcher tells it: dates as ISO text, the response body as base64. */
export type TestAttempt = Extract<TestDeliveryAnswer, { readonly attempt: unknown }>['attempt'];

/**
 * Has a dispatcher send a test delivery, and waits for what the receiver did.
 * @param deadlineMs `performance.now()` after which nobody waits any more.
 * @returns the id that the delivery had, the body that was sent, and the attempt.
 * @throws Problem
 */
export const sendTest = async (
  context: WebhooksContext,
  companyId: number,
  subscriptionId: number,
  body: BodyOf<(typeof contract)['testSubscription']>,
  deadlineMs: number,
): Promise<{ readonly eventId: number; readonly sent: string; readonly attempt: TestAttempt }> => {
  const subscription = await readSubscription(context.db, companyId, subscriptionId);
  const eventType = typeToTest(subscription, body.eventType);
  const now = context.now();
  const event = {
    event_id: testEventId(context, now),
    company_id: companyId,
    type: eventType,
    created_utc: now,
    payload: Buffer.from(JSON.stringify(body.samplePayload ?? sample(eventType, now))),
  };
  const metadata = { test: true, status: body.statusOverride ?? null };
  const test: TestDelivery = {
    companyId,
    subscriptionId,
    eventId: event.event_id,
    eventType,
    body: `${encodeEnvelope(event).toString().slice(0, -1)},"metadata":${JSON.stringify(metadata)}}`,
  };
  const answer = await askService<TestDeliveryAnswer>(context, testDeliverySubject, test, deadlineMs);
  if ('attempt' in answer) return { eventId: event.event_id, sent: test.body, attempt: answer.attempt };
  // It may have been deleted in between, which is a 404.
  await readSubscription(context.db, companyId, subscriptionId);
  throw internalError(new Error(`no test delivery could be made: ${answer.error}`));
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

/**
 * Receivers deduplicate by the id, so each test has one of its own: the microseconds since 1970, the last three
 * digits by chance. The event log counts from 1 and stays far below; 2^53 is reached in the year 2255.
 */
const testEventId = ({ random }: WebhooksContext, now: Date): number =>
  now.getTime() * 1000 + (Buffer.from(random(4)).readUInt32BE() % 1000);
