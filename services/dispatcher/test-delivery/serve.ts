import {
  failuresUntilProbing,
  type HeaderPair,
  masked,
  type TestDelivery,
  type TestDeliveryAnswer,
  testDeliverySubject,
} from '@causeway/proto';
import { deliveryHeaders, withOwnHeaders } from '@causeway/proto/signatures';
import { acrossTenants, createInFlight, isRequest, transaction } from '@causeway/runtime';
import { queueName } from '../delivery.ts';
import { endBackOff } from '../queue-rows.ts';
import { createPlaces } from '../scheduling/places.ts';
import { CannotSign } from '../sign/signer.ts';
import { readTargets } from '../store.ts';
import { attemptAnswer, postNotice, type TestDeliveryOptions } from './notice.ts';

interface TestDeliveries {
  stop(): Promise<void>;
}

/**
 * Test deliveries, verification challenges and posts of notices. Each is one attempt, signed and sent like any other,
 * limited separately, and not recorded. Companies share the places, so one whose receivers hang delays no other.
 * After a success, a failing subscription is probed at once.
 */
export const serveTestDeliveries = async (options: TestDeliveryOptions): Promise<TestDeliveries> => {
  const { bus, log } = options;
  const inFlight = createInFlight();
  const places = createPlaces(maxInFlight, maxWaitMs);

  const inPlace = async (asked: TestDelivery): Promise<TestDeliveryAnswer> => {
    const { companyId } = asked;
    if (!(await places.take(companyId)))
      return { error: 'too many test deliveries are under way', underWay: places.held(companyId) };
    try {
      return await deliver(options, asked);
    } finally {
      places.giveBack(companyId);
    }
  };
  const answer = async (data: string): Promise<TestDeliveryAnswer> => {
    try {
      return await inPlace(JSON.parse(data) as TestDelivery);
    } catch (error) {
      log.error({ error }, 'test delivery failed');
      return {
        error:
          error instanceof CannotSign
            ? 'the signing secret cannot be opened'
            : 'the test delivery could not be made',
      };
    }
  };

  const subscription = bus.nc.subscribe(testDeliverySubject, {
    queue: 'dispatchers',
    callback: (error, message) => {
      if (error || !isRequest(message)) return;
      inFlight.begin();
      void answer(message.string()).then((answered) => {
        message.respond(JSON.stringify(answered));
        inFlight.end();
      });
    },
  });
  await bus.flush();
  return {
    stop: async () => {
      subscription.unsubscribe();
      await inFlight.idle();
      await bus.flush();
    },
  };
};

const maxInFlight = 32;
/** An attempt after it still ends before the callers' deadlines. */
const maxWaitMs = 2_000;

const deliver = async (
  options: TestDeliveryOptions,
  { companyId, subscriptionId, eventId, eventType, origin, body, channel }: TestDelivery,
): Promise<TestDeliveryAnswer> => {
  const { db, signer, poster, now, log } = options;
  if (channel) return postNotice(options, { companyId, channel, eventId, eventType, body });
  const key = { company_id: companyId, subscription_id: subscriptionId };
  const all = acrossTenants(db, 'the calling service names the company');
  const targets = await readTargets(all, [key], now());
  const target = targets.get(queueName(key));
  if (!target) return { error: 'the subscription does not exist' };
  const bytes = Buffer.from(body);
  const delivered = {
    ...key,
    event_id: eventId,
    event_type: eventType,
    attempt: 1,
    sequence: 0,
    origin: origin ?? null,
    replay_id: 0,
  };
  const { timestamp, signatures, ownHeaders } = await signer.sign({ ...delivered, target, body: bytes });
  const headers = deliveryHeaders(delivered, timestamp, signatures);
  const startedUtc = now().toISOString();
  const { url } = target;
  const result = await poster.post({ url, headers: withOwnHeaders(headers, ownHeaders), body: bytes });
  if (result.errorClass === null && target.consecutive_failures >= failuresUntilProbing)
    await transaction(db, (trx) => endBackOff(trx, key, now())).catch((error: unknown) =>
      log.warn(
        { error, companyId, subscriptionId },
        'ending the back-off failed; the next probe keeps its time',
      ),
    );
  const hidden = ownHeaders.map(([name]): HeaderPair => [name, masked]);
  const sent = { headers: withOwnHeaders(headers, hidden), bytes: bytes.length };
  return { attempt: attemptAnswer(url, startedUtc, result, sent) };
};
