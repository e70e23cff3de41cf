import { headersAsSent } from '@causeway/deliveries';
import type { HeaderPair, NoticeChannel, TestDelivery, TestDeliveryAnswer } from '@causeway/proto';
import { acceptHeader, deliveryHeaders, userAgent } from '@causeway/proto/signatures';
import type { Context } from '../context.ts';
import type { Poster } from '../http/post.ts';
import type { PostResult } from '../http/send-post.ts';
import type { Signer } from '../sign/signer.ts';

export interface TestDeliveryOptions extends Pick<Context, 'bus' | 'db' | 'now' | 'log'> {
  readonly signer: Signer;
  readonly poster: Poster;
}

type TestAttempt = Extract<TestDeliveryAnswer, { readonly attempt: unknown }>['attempt'];

/** Posts a notice to a channel of the company, and keeps the result for the channel's page. */
export const postNotice = async (
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
export const attemptAnswer = (
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
