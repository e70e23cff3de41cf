import { originOf } from '@causeway/identity';
import {
  type AnswerTo,
  type challengeType,
  definitions,
  type EventType,
  encodeEnvelope,
  type HeaderPair,
  internalError,
  invalid,
  problem,
  samplePayload,
  type TestDelivery,
  type TestDeliveryAnswer,
  testDeliverySubject,
  tooManyTests,
} from '@causeway/proto';
import { type Answer, handler, json, type OperationCall } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import { askService } from '../ask.ts';
import { auditChange } from '../audit.ts';
import type { WebhooksContext } from '../context.ts';
import { bodyAnswer, header } from '../deliveries/get.ts';
import type { Tables } from '../tables.ts';
import { editorOf } from './editor.ts';
import { readSubscription, type SubscriptionRecord } from './record.ts';

export const testSubscription = (context: WebhooksContext) =>
  handler(definitions.testSubscription, (call) =>
    call.audience === 'key' ? testAsKey(context, call) : testAsMember(context, call),
  );

type TestCall = OperationCall<typeof definitions.testSubscription>;

const testAsKey = async (context: WebhooksContext, call: TestCall): Promise<Answer> => {
  const { identity } = call;
  const earlier = await context.once.find(identity);
  if (earlier) return earlier;
  const { attempt, record } = await sendTest(context, call);
  const success = attempt.error_class === null;
  const answer = json(200, {
    success,
    statusCode: attempt.status_code,
    elapsedMs: attempt.elapsed_ms,
    responseBodyTruncated: attempt.response_truncated === 1,
    responseBody: textOf(Buffer.from(attempt.response_body ?? '', 'base64')),
    targetUrlUsed: calledUrl(attempt.url),
    error: attempt.error_class,
    message: attempt.error,
  });
  return context.once.carryOut(identity, async (trx) => {
    await noteTest(context, trx, call, record, { success, statusCode: attempt.status_code });
    return answer;
  });
};

const testAsMember = async (
  context: WebhooksContext,
  call: Extract<TestCall, { readonly audience: 'member' }>,
): Promise<Answer> => {
  const { attempt, sent, record } = await sendTest(context, call);
  const answer = attemptAnswer(attempt, sent);
  await noteTest(context, context.db, call, record, answer);
  return json(200, answer);
};

const noteTest = (
  context: WebhooksContext,
  db: Kysely<Tables>,
  call: TestCall,
  record: SubscriptionRecord,
  { success, statusCode }: { readonly success: boolean; readonly statusCode: number | null },
): Promise<number> =>
  auditChange(db, editorOf(call), 'subscription.tested', record, {
    after: { success, statusCode, eventType: call.body.eventType ?? null },
    at: context.now(),
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

const sendTest = async (
  context: WebhooksContext,
  call: TestCall,
): Promise<SentTest & { readonly record: SubscriptionRecord }> => {
  const { companyId, body } = call;
  const record = await readSubscription(context.db, companyId, call.id('subscription'));
  const { subscription_id: subscriptionId } = record;
  const type = typeToTest(record, body.eventType);
  const payload = body.samplePayload ?? sample(type, context.now());
  const metadata = { test: true, status: body.statusOverride ?? null };
  const sending = { companyId, subscriptionId, type, payload, metadata, origin: originOf(call) };
  return { record, ...(await sendNow(context, sending, call.deadlineMs)) };
};

const typeToTest = ({ event_types }: SubscriptionRecord, askedType: string | null | undefined): EventType => {
  const type = askedType == null ? event_types[0] : event_types.find((one) => one === askedType);
  if (type) return type;
  const message = `the subscription does not include the event type ${askedType}`;
  throw invalid([{ field: 'eventType', code: 'out_of_range', message }], {
    subscribedEventTypes: event_types,
  });
};

const sample = (type: EventType, now: Date): unknown => {
  try {
    return samplePayload(type, now);
  } catch (cause) {
    throw problem('sample_payload_failed', cause);
  }
};

const attemptAnswer = (attempt: TestAttempt, sent: string): AnswerTo<'testPortalSubscription'> => ({
  success: attempt.error_class === null,
  statusCode: attempt.status_code,
  elapsedMs: attempt.elapsed_ms,
  timings: {
    dnsMs: attempt.dns_ms,
    connectMs: attempt.connect_ms,
    tlsMs: attempt.tls_ms,
    firstByteMs: attempt.first_byte_ms,
  },
  address: attempt.address,
  errorClass: attempt.error_class,
  error: attempt.error,
  request: {
    url: attempt.url,
    headers: pairs(attempt.request_headers),
    body: sent,
    timestamp: header(attempt.request_headers, 'x-webhook-timestamp'),
    signature: header(attempt.request_headers, 'x-webhook-signature'),
  },
  response: attempt.response_headers && {
    headers: pairs(attempt.response_headers),
    ...bodyAnswer(Buffer.from(attempt.response_body ?? '', 'base64')),
    truncated: attempt.response_truncated === 1,
  },
});

const pairs = (headers: readonly HeaderPair[]): [string, string][] =>
  headers.map(([name, value]) => [name, value]);

/** A delivery without an event: a test or a verification challenge. */
interface Sending {
  readonly companyId: number;
  readonly subscriptionId: number;
  readonly type: EventType | typeof challengeType;
  readonly payload: unknown;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly origin: string;
}

interface SentTest {
  readonly sent: string;
  readonly attempt: TestAttempt;
}

/** The attempt as the dispatcher answers it: dates as ISO text, the response body as base64. */
type TestAttempt = Extract<TestDeliveryAnswer, { readonly attempt: unknown }>['attempt'];

/** @param deadlineMs `performance.now()` after which the caller no longer waits. @throws Problem */
export const sendNow = async (
  context: Pick<WebhooksContext, 'bus' | 'db' | 'now' | 'random'>,
  { companyId, subscriptionId, type, payload, metadata, origin }: Sending,
  deadlineMs: number,
): Promise<SentTest> => {
  const now = context.now();
  const eventId = testEventId(context, now);
  const envelope = encodeEnvelope({
    event_id: eventId,
    company_id: companyId,
    type,
    created_utc: now,
    payload: Buffer.from(JSON.stringify(payload)),
  }).toString();
  const body = metadata ? `${envelope.slice(0, -1)},"metadata":${JSON.stringify(metadata)}}` : envelope;
  const test: TestDelivery = { companyId, subscriptionId, eventId, eventType: type, origin, body };
  const answer = await askService<TestDeliveryAnswer>(context, testDeliverySubject, test, deadlineMs);
  if ('attempt' in answer) return { sent: body, attempt: answer.attempt };
  assertSent(answer);
  // The subscription may have been deleted in between: 404.
  await readSubscription(context.db, companyId, subscriptionId);
  throw internalError(new Error(`test delivery failed: ${answer.error}`));
};

/** @throws Problem if there was no place for the test. */
export const assertSent = ({
  underWay,
}: Exclude<TestDeliveryAnswer, { readonly attempt: unknown }>): void => {
  if (underWay === 0) throw problem('service_unavailable');
  if (underWay !== undefined) throw tooManyTests(underWay);
};

/**
 * Receivers deduplicate by the id, so each test has a unique one: the microseconds since 1970, the last three digits
 * random. Ids of the event log count from 1 and stay far below; 2^53 is reached in the year 2255.
 */
const testEventId = ({ random }: Pick<WebhooksContext, 'random'>, now: Date): number =>
  now.getTime() * 1000 + (Buffer.from(random(4)).readUInt32BE() % 1000);
