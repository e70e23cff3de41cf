import { type DeliveryAttemptRow, requestHeadersOf, responseOf } from '@causeway/deliveries';
import {
  contract,
  encodeEnvelope,
  type HeaderPair,
  maskText,
  notFound,
  parseId,
  type Role,
} from '@causeway/proto';
import { handler, json, tenantIs } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { WebhooksContext } from '../context.ts';
import { maskedEvent, readEvent } from '../events/read.ts';
import type { Tables } from '../tables.ts';
import { noAbout, readAbouts } from './list.ts';
import { type DeliveryIds, deliveryAnswer, deliveryIdsOf, oneOf, readSiblings } from './record.ts';

export const getDelivery = ({ db, now }: WebhooksContext) =>
  handler(contract.getDelivery, async ({ companyId, params, user }) => {
    const delivery = await readDelivery(db, companyId, deliveryIdsOf(params), user.role);
    const wait = delivery.state === 'waiting' ? await readWait(db, companyId, delivery, now()) : null;
    return json(200, { ...delivery, wait });
  });

/** @throws Problem `not_found` */
export const readDelivery = async (db: Kysely<Tables>, companyId: number, name: DeliveryIds, role: Role) => {
  const siblings = await readSiblings(db, companyId, name);
  const delivery = oneOf(siblings, name);
  const history = await db
    .selectFrom('delivery_attempts')
    .select(['attempt', 'started_utc as startedUtc', 'elapsed_ms as elapsedMs', 'status_code as statusCode'])
    .select(['error_class as errorClass', 'error', 'next_attempt_utc as nextAttemptUtc'])
    .where('company_id', '=', companyId)
    .where('event_id', '=', name.eventId)
    .where('subscription_id', '=', name.subscriptionId)
    .where('replay_id', '=', name.replayId)
    .where('created_utc', '=', delivery.created_utc)
    .orderBy('attempt')
    .execute();
  const abouts = await readAbouts(db, companyId, [name.eventId], role);
  return {
    ...deliveryAnswer(delivery),
    ...(abouts.get(name.eventId) ?? noAbout),
    history,
    others: siblings.filter((one) => one !== delivery).map(deliveryAnswer),
  };
};

export const getAttempt = ({ db }: WebhooksContext) =>
  handler(contract.getAttempt, async ({ companyId, params, query, user }) => {
    const name = { ...deliveryIdsOf(params), attempt: parseId(params[3], 'attempt') };
    return json(200, await readAttempt(db, companyId, name, query.as ?? user.role));
  });

/** The body comes from the event: its bytes are the same in every attempt. @throws Problem `not_found` */
export const readAttempt = async (
  db: Kysely<Tables>,
  companyId: number,
  name: DeliveryIds & { readonly attempt: number },
  role: Role,
) => {
  const row = await db
    .selectFrom('delivery_attempts')
    .selectAll()
    .where('company_id', '=', companyId)
    .where('event_id', '=', name.eventId)
    .where('subscription_id', '=', name.subscriptionId)
    .where('replay_id', '=', name.replayId)
    .where('attempt', '=', name.attempt)
    .executeTakeFirstOrThrow(() => notFound('attempt'));
  const event = await readEvent(db, companyId, name.eventId);
  const masked = role === 'viewer';
  const body = event ? encodeEnvelope(masked ? maskedEvent(event) : event).toString() : null;
  return attemptAnswer(row, body, masked);
};

const attemptAnswer = (row: DeliveryAttemptRow, body: string | null, masked: boolean) => {
  const headers = requestHeadersOf(row);
  const response = responseOf(row);
  const timestamp = header(headers, 'x-webhook-timestamp');
  const shown = (text: string): string => (masked ? maskText(text) : text);
  return {
    attempt: row.attempt,
    startedUtc: row.started_utc,
    nextAttemptUtc: row.next_attempt_utc,
    success: row.error_class === null,
    statusCode: row.status_code,
    elapsedMs: row.elapsed_ms,
    timings: {
      dnsMs: row.dns_ms,
      connectMs: row.connect_ms,
      tlsMs: row.tls_ms,
      firstByteMs: row.first_byte_ms,
    },
    address: row.address,
    errorClass: row.error_class,
    error: row.error,
    request: {
      url: row.url,
      headers,
      body,
      timestamp,
      signature: header(headers, 'x-webhook-signature'),
    },
    response: response && {
      headers: response.headers,
      ...bodyAnswer(response.body, shown),
      truncated: row.response_truncated === 1,
    },
    masked,
  };
};

export const header = (headers: readonly HeaderPair[], wanted: string): string =>
  headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? '';

/** UTF-8 as text, even if it was cut within a character; anything else as base64. */
export const bodyAnswer = (bytes: Buffer | null, shown = (text: string) => text) => {
  try {
    const body = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes ?? undefined, {
      stream: true,
    });
    return { body: body === '' ? '' : shown(body), bodyBase64: false };
  } catch {
    return { body: shown(bytes!.toString('base64')), bodyBase64: true };
  }
};

type WaitingDelivery = Pick<
  ReturnType<typeof deliveryAnswer>,
  'eventId' | 'subscriptionId' | 'attempts' | 'dueUtc' | 'subscription'
>;

/** Why a delivery waits, and about when its next attempt begins. */
const readWait = async (db: Kysely<Tables>, companyId: number, delivery: WaitingDelivery, now: Date) => {
  const { subscriptionId, attempts, dueUtc, subscription } = delivery;
  const nothing = { sinceUtc: null, place: null, nextUtc: null };
  const rules = await db
    .selectFrom('subscriptions')
    .select(['paused_utc', 'pace_limit', 'pace_seconds'])
    .where('company_id', '=', companyId)
    .where('subscription_id', '=', subscriptionId)
    .executeTakeFirst();
  if (rules?.paused_utc) return { ...nothing, reason: 'paused' as const, sinceUtc: rules.paused_utc };
  const probeUtc = subscription?.nextProbeUtc ?? null;
  if (probeUtc !== null)
    return {
      ...nothing,
      reason: 'failing' as const,
      nextUtc: dueUtc && dueUtc > probeUtc ? dueUtc : probeUtc,
    };
  if (dueUtc !== null && dueUtc > now)
    return attempts > 0
      ? { ...nothing, reason: 'retry' as const, nextUtc: dueUtc }
      : { ...nothing, reason: 'underway' as const };
  const before = await countBefore(db, companyId, delivery, dueUtc ?? now);
  const place = before + 1;
  if (!rules?.pace_limit || !rules.pace_seconds) return { ...nothing, reason: 'turn' as const, place };
  const windows = Math.floor(before / rules.pace_limit);
  const nextUtc = new Date(now.getTime() + windows * rules.pace_seconds * 1_000);
  return { ...nothing, reason: 'paced' as const, place, nextUtc };
};

const mostCounted = 10_000;

/** A queue gives what is due longest first. */
const countBefore = async (
  db: Kysely<Tables>,
  companyId: number,
  { subscriptionId, eventId }: Pick<WaitingDelivery, 'subscriptionId' | 'eventId'>,
  dueUtc: Date,
): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT COUNT(*) AS count FROM (
      SELECT d.event_id FROM deliveries AS d
      WHERE d.company_id = ${tenantIs(companyId)} AND d.subscription_id = ${subscriptionId} AND d.state = 'waiting'
        AND (d.due_utc < ${dueUtc} OR (d.due_utc = ${dueUtc} AND d.event_id < ${eventId}))
      LIMIT ${sql.lit(mostCounted)}
    ) AS earlier`.execute(db);
  return rows[0]!.count;
};
