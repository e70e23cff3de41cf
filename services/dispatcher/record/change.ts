import type { DeliveryRow, DeliveryState } from '@causeway/proto';
import type { Finished } from './finished.ts';

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
