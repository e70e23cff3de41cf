import { attemptFactColumns, type DeliveryRow, type WaitingEvent } from '@causeway/deliveries';
import type { DeliveryState } from '@causeway/proto';
import { later } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { Finished } from '../attempt/attempts.ts';
import { hasNoRow } from '../job.ts';
import { forShare, lockOutbox, withoutRows } from '../store.ts';
import type { Tables } from '../tables.ts';

/** The new values of a delivery's row. */
export interface Change {
  readonly state: DeliveryState;
  readonly dueMs: number | null;
  /** True if the row still has this attempt's lease. */
  readonly isOurs: boolean;
}

/**
 * Computes what an attempt changes in its delivery's current row. Undefined if another process leases it or it is
 * finished. A delivery that was held during the attempt stays held, unless it succeeded or has used all its attempts.
 */
export const changeOf = (
  { job, decision }: Finished,
  row: Pick<DeliveryRow, 'state' | 'due_utc'> | undefined,
): Change | undefined => {
  if (row?.state !== 'waiting' && row?.state !== 'held') return undefined;
  const isOurs = row.state === 'waiting' && row.due_utc?.getTime() === job.leaseMs;
  if (decision.outcome === 'succeeded') return { state: 'succeeded', dueMs: null, isOurs };
  if (row.state === 'waiting' && !isOurs) return undefined;
  if (decision.outcome === 'failed') return { state: 'failed', dueMs: null, isOurs };
  return isOurs
    ? { state: 'waiting', dueMs: decision.dueMs, isOurs }
    : { state: 'held', dueMs: null, isOurs };
};

/** The columns of `delivery_attempts`, in the order in which they are written. */
export const attemptColumns = [
  'company_id',
  'event_id',
  'subscription_id',
  'replay_id',
  'attempt',
  'created_utc',
  ...attemptFactColumns,
  'next_attempt_utc',
] as const;

/** Turns an attempt into its row. Values that are too long are cut, so that they cannot fail the batch. */
export const attemptRow = ({ job, startedMs, result, decision }: Finished) => ({
  company_id: job.company_id,
  event_id: job.event_id,
  subscription_id: job.subscription_id,
  replay_id: job.replay_id,
  attempt: job.attempt,
  created_utc: job.created_utc,
  started_utc: new Date(startedMs),
  elapsed_ms: result.elapsedMs,
  dns_ms: result.dnsMs,
  connect_ms: result.connectMs,
  tls_ms: result.tlsMs,
  first_byte_ms: result.firstByteMs,
  url: job.target.url,
  address: result.address?.slice(0, maxAddress) ?? null,
  status_code: result.statusCode,
  error_class: result.errorClass,
  error: result.error?.slice(0, maxError) ?? null,
  request_headers: JSON.stringify(result.requestHeaders),
  response_headers: result.responseHeaders && JSON.stringify(result.responseHeaders),
  response_body: result.responseBody,
  response_truncated: result.responseTruncated ? 1 : 0,
  next_attempt_utc: decision.outcome === 'retry' && !decision.gone ? new Date(decision.dueMs) : null,
});

const maxAddress = 45;
const maxError = 500;

/** Counts the deliveries of replays that have ended, with the transaction's next statement. */
export const countReplays = async (
  db: Kysely<Tables>,
  changes: ReadonlyMap<Finished, Change | undefined>,
): Promise<void> => {
  const counts = new Map<number, [companyId: number, replayId: number, succeeded: number, failed: number]>();
  for (const [{ job }, to] of changes) {
    if (job.replay_id === 0 || (to?.state !== 'succeeded' && to?.state !== 'failed')) continue;
    const count = counts.get(job.replay_id) ?? [job.company_id, job.replay_id, 0, 0];
    count[to.state === 'succeeded' ? 2 : 3]++;
    counts.set(job.replay_id, count);
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
 * First attempts that another dispatcher has counted as missed: it took their events because the leases had ended, and
 * found neither rows nor room.
 */
export const countedAsMissed = async (
  db: Kysely<Tables>,
  ended: readonly Finished[],
  now: Date,
): Promise<readonly WaitingEvent[]> => {
  const soonMs = now.getTime() + lockBeforeMs;
  const jobs = ended.flatMap(({ job }) => (hasNoRow(job) && job.event!.leaseMs < soonMs ? [job] : []));
  const ids = await lockOutbox(db, jobs, forShare);
  return withoutRows(
    db,
    jobs.filter(({ event_id }) => !ids.has(event_id)),
  );
};

/** An event whose lease ends so soon is locked, so that no other dispatcher takes it before the commit. */
const lockBeforeMs = 1_000;
