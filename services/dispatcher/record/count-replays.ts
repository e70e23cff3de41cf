import { later } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';
import type { Change } from './change.ts';
import type { Finished } from './finished.ts';

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
