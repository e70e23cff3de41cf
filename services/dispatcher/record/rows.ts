import { type DeliveryRow, packRequest, packResponse, type WaitingEvent } from '@causeway/deliveries';
import type { DeliveryState } from '@causeway/proto';
import { hasAccept } from '@causeway/proto/signatures';
import { later, type Rows, statement } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { type AttemptedDelivery, hasNoRow } from '../delivery.ts';
import { forShare, lockOutbox, withoutRows } from '../store.ts';
import type { Tables } from '../tables.ts';

export interface Change {
  readonly state: DeliveryState;
  readonly dueMs: number | null;
  /** The row still has this attempt's lease. */
  readonly isOurs: boolean;
}

/**
 * Undefined if another process leases the row or it is finished. A delivery that was held during the attempt
 * stays held, unless it succeeded or has used all its attempts.
 */
export const changeOf = (
  { decision, leaseMs }: AttemptedDelivery,
  row: Pick<DeliveryRow, 'state' | 'due_utc'> | undefined,
): Change | undefined => {
  if (row?.state !== 'waiting' && row?.state !== 'held') return undefined;
  const isOurs = row.state === 'waiting' && row.due_utc?.getTime() === leaseMs;
  if (decision.outcome === 'succeeded') return { state: 'succeeded', dueMs: null, isOurs };
  if (row.state === 'waiting' && !isOurs) return undefined;
  if (decision.outcome === 'failed') return { state: 'failed', dueMs: null, isOurs };
  return isOurs
    ? { state: 'waiting', dueMs: decision.dueMs, isOurs }
    : { state: 'held', dueMs: null, isOurs };
};

export const insertAttempts = async (
  db: Kysely<Tables>,
  attempted: readonly AttemptedDelivery[],
): Promise<void> => {
  await later(db, insertAttemptRows(db, attempted.map(attemptValues)));
};

const insertAttemptRows = statement<[Rows]>(
  (rows) => sql`
    INSERT INTO delivery_attempts (company_id, event_id, subscription_id, replay_id, attempt, created_utc,
      started_utc, elapsed_ms, dns_ms, connect_ms, tls_ms, first_byte_ms, url, address, status_code, error_class,
      error, sent, response_body, response_truncated, next_attempt_utc)
    VALUES ${rows}
    ON DUPLICATE KEY UPDATE attempt = delivery_attempts.attempt`,
);

const attemptValues = (attempt: AttemptedDelivery) => {
  const { result, decision } = attempt;
  return [
    attempt.company_id,
    attempt.event_id,
    attempt.subscription_id,
    attempt.replay_id,
    attempt.attempt,
    attempt.created_utc,
    new Date(attempt.startedMs),
    result.elapsedMs,
    result.dnsMs,
    result.connectMs,
    result.tlsMs,
    result.firstByteMs,
    attempt.target.url,
    result.address?.slice(0, maxAddress) ?? null,
    result.statusCode,
    result.errorClass,
    result.error?.slice(0, maxError) ?? null,
    packRequest({
      ...attempt,
      bodyBytes: result.wasSent ? attempt.body.length : null,
      accepts: !hasAccept(attempt.signed.ownHeaders),
    }),
    result.responseHeaders && packResponse({ headers: result.responseHeaders, body: result.responseBody }),
    result.responseTruncated ? 1 : 0,
    decision.outcome === 'retry' && !decision.gone ? new Date(decision.dueMs) : null,
  ];
};

const maxAddress = 45;
const maxError = 500;

export const countReplays = async (
  db: Kysely<Tables>,
  changes: ReadonlyMap<AttemptedDelivery, Change | undefined>,
): Promise<void> => {
  const counts = new Map<number, [companyId: number, replayId: number, succeeded: number, failed: number]>();
  for (const [{ company_id, replay_id }, to] of changes) {
    if (replay_id === 0 || (to?.state !== 'succeeded' && to?.state !== 'failed')) continue;
    const count = counts.get(replay_id) ?? [company_id, replay_id, 0, 0];
    count[to.state === 'succeeded' ? 2 : 3]++;
    counts.set(replay_id, count);
  }
  const sorted = [...counts.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  for (const [companyId, replayId, succeeded, failed] of sorted)
    await later(
      db,
      sql`
        UPDATE replays SET succeeded = succeeded + ${succeeded}, failed = failed + ${failed}
        WHERE company_id = ${companyId} AND replay_id = ${replayId}`.compile(db),
    );
};

/**
 * First attempts of events that another dispatcher took when their leases had ended, and counted as missed.
 */
export const countedAsMissed = async (
  db: Kysely<Tables>,
  attempted: readonly AttemptedDelivery[],
  now: Date,
): Promise<readonly WaitingEvent[]> => {
  const soonMs = now.getTime() + lockBeforeMs;
  const late = attempted.filter((one) => hasNoRow(one) && one.event!.leaseMs < soonMs);
  const ids = await lockOutbox(db, late, forShare);
  return withoutRows(
    db,
    late.filter(({ event_id }) => !ids.has(event_id)),
  );
};

/** An event whose lease ends so soon is locked, so that no other dispatcher takes it before the commit. */
const lockBeforeMs = 1_000;
