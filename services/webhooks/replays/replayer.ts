import {
  acrossTenants,
  type Database,
  type Log,
  type Metrics,
  type Repeated,
  repeat,
  transaction,
} from '@causeway/runtime';
import { webhooksMetrics } from '../metrics.ts';
import type { Tables } from '../tables.ts';
import { nextPage } from './page.ts';

/**
 * Continues the replays that are due, one page at a time, on any replica. An interrupted page is rolled back and is
 * still due.
 */
export const startReplayer = ({ db, log, metrics, now, waitingQuota }: ReplayerOptions): Repeated => {
  const pages = metrics?.counter(webhooksMetrics.webhooks_replay_pages_total).cell();
  const pass = async (): Promise<number> => {
    const found = await transaction(db, async (trx) => {
      const at = now();
      const due = await acrossTenants(trx, 'the replayer continues a due replay of any company')
        .selectFrom('replays')
        .selectAll()
        .where('next_page_utc', '<=', at)
        .orderBy('next_page_utc')
        .limit(1)
        .forUpdate()
        .skipLocked()
        .executeTakeFirst();
      if (!due) return 0;
      await nextPage(trx, due, at, waitingQuota);
      return 1;
    });
    if (pages) pages.value += found;
    return found;
  };
  return repeat(pass, {
    pauseMs: lookEveryMs,
    onError: (error) => log.warn({ error }, 'replay page failed; retried'),
  });
};

const lookEveryMs = 200;

export interface ReplayerOptions {
  readonly db: Database<Tables>;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  readonly now: () => Date;
  /** Deliveries of one company that may wait. */
  readonly waitingQuota: number;
}
