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

/** A delivery that is no event: a test or a verification challenge. */
export interface Sending {
  readonly companyId: number;
  readonly subscriptionId: number;
  readonly type: EventType | typeof challengeType;
  readonly payload: unknown;
  /** The envelope's last member, where it has one. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface SentTest {
  /** The body that was sent. */
  readonly sent: string;
  readonly attempt: TestAttempt;
}

/** The attempt as the dispatcher tells it: dates as ISO text, the response body as base64. */
export type TestAttempt = Extract<TestDeliveryAnswer, { readonly attempt: unknown }>['attempt'];

/**
 * Has a dispatcher send a delivery at once, past the event log, and waits for what the receiver did.
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
  // It may have been deleted in between, which is a 404.
  await readSubscription(context.db, companyId, subscriptionId);
  throw internalError(new Error(`no test delivery could be made: ${answer.error}`));
};

/**
 * Receivers deduplicate by the id, so each test has one of its own: the microseconds since 1970, the last three
 * digits by chance. The event log counts from 1 and stays far below; 2^53 is reached in the year 2255.
 */
const testEventId = ({ random }: Pick<WebhooksContext, 'random'>, now: Date): number =>
  now.getTime() * 1000 + (Buffer.from(random(4)).readUInt32BE() % 1000);
