import type { DeliveryRow, DeliveryState } from '@causeway/proto';
import type { Finished } from './finished.ts';

/** What a delivery's row becomes. */
export interface Change {
  readonly state: DeliveryState;
  readonly dueMs: number | null;
  /** The lease was still the one that this attempt was made under. */
  readonly isOurs: boolean;
}

/**
 * What an attempt changes about its delivery, as the row is now; undefined where it is another's or was given up.
 * One that was held while it was under way keeps waiting for its owner, unless it has arrived or has had all its
 * attempts.
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
