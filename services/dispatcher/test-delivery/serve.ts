import { headersAsSent } from '@causeway/deliveries';
import {
  failuresUntilProbing,
  type HeaderPair,
  masked,
  type NoticeChannel,
  type TestDelivery,
  type TestDeliveryAnswer,
  testDeliverySubject,
} from '@causeway/proto';
import { acceptHeader, deliveryHeaders, userAgent, withOwnHeaders } from '@causeway/proto/signatures';
import { acrossTenants, type ServedRequests, serveRequests, transaction } from '@causeway/runtime';
import type { Context } from '../context.ts';
import { queueName } from '../delivery.ts';
import type { Poster } from '../http/post.ts';
import type { PostResult } from '../http/send-post.ts';
import { endBackOff } from '../queue-rows.ts';
import { createPlaces } from '../scheduling/places.ts';
import { CannotSign, type Signer } from '../sign/signer.ts';
import { readTargets } from '../store.ts';

/**
 * Test deliveries, verification challenges and posts of notices. Each is one attempt, signed and sent like any other,
 * limited separately, and not recorded. Companies share the places, so one whose receivers hang delays no other.
 * After a success, a failing subscription is probed at once.
 */
export const serveTestDeliveries = async (options: TestDeliveryOptions): Promise<ServedRequests> => {
  const { bus, log } = options;
  const places = createPlaces(maxInFlight, maxWaitMs);

  const inPlace = async (request: TestDelivery): Promise<TestDeliveryAnswer> => {
    const { companyId } = request;
    if (!(await places.take(companyId)))
      return { error: 'too many test deliveries are under way', underWay: places.held(companyId) };
    try {
      return await deliver(options, request);
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

  return serveRequests(bus, testDeliverySubject, 'dispatchers', async (text) =>
    JSON.stringify(await answer(text)),
  );
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

interface TestDeliveryOptions extends Pick<Context, 'bus' | 'db' | 'now' | 'log'> {
  readonly signer: Signer;
  readonly poster: Poster;
}

type TestAttempt = Extract<TestDeliveryAnswer, { readonly attempt: unknown }>['attempt'];

/** Posts a notice to a channel of the company, and keeps the result for the channel's page. */
const postNotice = async (
  { db, signer, poster, now, log }: TestDeliveryOptions,
  {
    companyId,
    channel,
    eventId,
    eventType,
    body,
  }: Pick<TestDelivery, 'companyId' | 'eventId' | 'eventType' | 'body'> & { readonly channel: NoticeChannel },
): Promise<TestDeliveryAnswer> => {
  const row = await db
    .selectFrom('notice_channels')
    .select(['url', 'secret'])
    .where('company_id', '=', companyId)
    .where('channel', '=', channel)
    .executeTakeFirst();
  if (!row) return { error: 'the channel does not exist' };
  const { url, secret } = row;
  const bytes = Buffer.from(body);
  const headers =
    secret === null
      ? ([['Content-Type', 'application/json'], ['User-Agent', userAgent], acceptHeader] as const)
      : await signedHeaders(signer, secret, bytes, { companyId, eventId, eventType });
  const at = now();
  const result = await poster.post({ url, headers, body: bytes });
  const last_error = result.error?.slice(0, 500) ?? null;
  await db
    .updateTable('notice_channels')
    .set({ last_utc: at, last_status: result.statusCode, last_error })
    .where('company_id', '=', companyId)
    .where('channel', '=', channel)
    .where('url', '=', url)
    .execute()
    .catch((error: unknown) => log.warn({ error, companyId, channel }, 'result of a notice not recorded'));
  return { attempt: attemptAnswer(url, at.toISOString(), result, { headers, bytes: bytes.length }) };
};

const signedHeaders = async (
  signer: TestDeliveryOptions['signer'],
  secret: Buffer,
  body: Buffer,
  { companyId, eventId, eventType }: Pick<TestDelivery, 'companyId' | 'eventId' | 'eventType'>,
): Promise<readonly HeaderPair[]> => {
  const target = { secret, previous_secret: null, previous_secret_until: null };
  const request = { company_id: companyId, event_id: eventId, target, body };
  const { timestamp, signatures } = await signer.sign(request);
  const notice = {
    ...{ event_id: eventId, event_type: eventType, attempt: 1, subscription_id: 0, sequence: 0 },
    ...{ origin: 'system', replay_id: 0 },
  };
  return deliveryHeaders(notice, timestamp, signatures);
};

/** The attempt as JSON can hold it. */
const attemptAnswer = (
  url: string,
  startedUtc: string,
  result: PostResult,
  { headers, bytes }: { readonly headers: readonly HeaderPair[]; readonly bytes: number },
): TestAttempt => ({
  started_utc: startedUtc,
  elapsed_ms: result.elapsedMs,
  dns_ms: result.dnsMs,
  connect_ms: result.connectMs,
  tls_ms: result.tlsMs,
  first_byte_ms: result.firstByteMs,
  url,
  address: result.address,
  status_code: result.statusCode,
  error_class: result.errorClass,
  error: result.error,
  request_headers: result.wasSent ? headersAsSent(new URL(url), headers, bytes) : headers,
  response_headers: result.responseHeaders,
  response_body: result.responseBody?.toString('base64') ?? null,
  response_truncated: result.responseTruncated ? 1 : 0,
});
