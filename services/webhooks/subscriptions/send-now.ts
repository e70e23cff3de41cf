import {
  type challengeType,
  type EventType,
  encodeEnvelope,
  internalError,
  type TestDelivery,
  type TestDeliveryAnswer,
  testDeliverySubject,
} from '@causeway/proto';
import { askService } from '../ask-service.ts';
import type { WebhooksContext } from '../context.ts';
import { readSubscription } from './record.ts';

/** A delivery without an event: a test or a verification challenge. */
export interface Sending {
  readonly companyId: number;
  readonly subscriptionId: number;
  readonly type: EventType | typeof challengeType;
  readonly payload: unknown;
  /** The envelope's optional last member. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface SentTest {
  /** The body that was sent. */
  readonly sent: string;
  readonly attempt: TestAttempt;
}

/** The attempt as the dispatcher answers it: dates as ISO text, the response body as base64. */
export type TestAttempt = Extract<TestDeliveryAnswer, { readonly attempt: unknown }>['attempt'];

/**
 * Asks a dispatcher to send a delivery at once, without an event, and waits for the result.
 * @param deadlineMs `performance.now()` after which the caller no longer waits.
 * @throws Problem
 */
export const sendNow = async (
  context: Pick<WebhooksContext, 'bus' | 'db' | 'tracer' | 'now' | 'random'>,
  { companyId, subscriptionId, type, payload, metadata }: Sending,
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
  const test: TestDelivery = { companyId, subscriptionId, eventId, eventType: type, body };
  const answer = await askService<TestDeliveryAnswer>(context, testDeliverySubject, test, deadlineMs);
  if ('attempt' in answer) return { sent: body, attempt: answer.attempt };
  // The subscription may have been deleted in between: 404.
  await readSubscription(context.db, companyId, subscriptionId);
  throw internalError(new Error(`test delivery failed: ${answer.error}`));
};

/**
 * Receivers deduplicate by the id, so each test has a unique one: the microseconds since 1970, the last three digits
 * random. Ids of the event log count from 1 and stay far below; 2^53 is reached in the year 2255.
 */
const testEventId = ({ random }: Pick<WebhooksContext, 'random'>, now: Date): number =>
  now.getTime() * 1000 + (Buffer.from(random(4)).readUInt32BE() % 1000);
