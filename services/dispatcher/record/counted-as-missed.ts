import type { WaitingEvent } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import { hasNoRow } from '../intake/taken-events.ts';
import { forShare, lockOutbox } from '../store/outbox.ts';
import { withoutRows } from '../store/without-rows.ts';
import type { Tables } from '../tables.ts';
import type { Finished } from './finished.ts';

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
