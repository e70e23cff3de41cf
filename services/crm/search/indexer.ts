import { setTimeout as sleep } from 'node:timers/promises';
import { acrossTenants, type Database, type Log, type Metrics } from '@causeway/runtime';
import type { Tables } from '../tables.ts';
import { indexCompany } from './index-company.ts';

/**
 * How the client search finds any substring in milliseconds and never misses a committed client.
 *
 * A company's clients are in one of three places, and a search reads them in this order:
 *
 * 1. waiting: `client_search_pending` has a row for each client made or renamed since. A writer adds it in
 *    its own transaction, and a search compares these few clients one by one.
 * 2. the tail: up to 4095 entries whose normalised texts lie in one blob, which a search reads whole.
 * 3. chunks: 4096 entries each. For every three bytes that occur in their texts, a row holds where; a search
 *    reads those of a few grams of its own and keeps the entries that have them all at the right distances.
 *    A chunk never changes.
 *
 * Indexers move clients on from 1 to 2, and a full tail to 3, each time in one transaction; so whoever reads
 * in that order sees each client at least once. A renamed client gets a second entry, its first goes stale:
 * that is why a search compares the client's row itself before it shows it.
 *
 * Every replica runs an indexer; the lock on the tail gives each company to one at a time.
 */
export const startIndexer = ({ db, log, metrics, minWaiting = 64 }: IndexerOptions): Indexer => {
  const stopping = new AbortController();
  const indexed = metrics?.counter('crm_search_indexed_total', 'Clients moved into the search index').cell();
  let waiting = 0;
  metrics?.gauge('crm_search_waiting', 'Clients that wait for the search index', () => waiting);

  const round = async (): Promise<number> => {
    const companies = await busyCompanies(db, minWaiting);
    waiting = companies.reduce((sum, company) => sum + company.waiting, 0);
    let taken = 0;
    for (const { company_id } of companies) {
      for (let passes = 0; passes < maxPasses && !stopping.signal.aborted; passes++) {
        const moved = await indexCompany(db, company_id);
        taken += moved;
        if (moved < minWaiting) break;
      }
    }
    if (indexed) indexed.value += taken;
    return taken;
  };

  const running = (async () => {
    while (!stopping.signal.aborted) {
      const startedMs = performance.now();
      let pauseMs = minPauseMs;
      try {
        const taken = await round();
        // With nothing to do, looking for work costs one part in fifty, however long the table is.
        if (taken === 0) pauseMs = Math.max(minPauseMs, 50 * (performance.now() - startedMs));
      } catch (error) {
        log?.error({ error }, 'clients could not be indexed');
        pauseMs = failurePauseMs;
      }
      await sleep(Math.min(pauseMs, maxPauseMs), undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();

  return {
    stop: () => {
      stopping.abort();
      return running;
    },
  };
};

export interface Indexer {
  /** Resolves when the pass at work has ended. */
  stop(): Promise<void>;
}

interface IndexerOptions {
  readonly db: Database<Tables>;
  readonly log?: Log | undefined;
  readonly metrics?: Metrics | undefined;
  /**
   * Fewer than these stay where they are: each pass rewrites the company's tail, and comparing this many
   * clients one by one takes a search half a millisecond.
   */
  readonly minWaiting?: number;
}

/** In one round, so that a company with a backlog neither keeps the others waiting nor takes a round a pass. */
const maxPasses = 16;
const minPauseMs = 100;
const maxPauseMs = 5_000;
const failurePauseMs = 1_000;

const busyCompanies = (
  db: Database<Tables>,
  minWaiting: number,
): Promise<{ company_id: number; waiting: number }[]> =>
  acrossTenants(db, 'the search indexer looks for companies with waiting clients')
    .selectFrom('client_search_pending')
    .select((eb) => ['company_id', eb.fn.countAll<number>().as('waiting')])
    .groupBy('company_id')
    .having((eb) => eb.fn.countAll(), '>=', minWaiting)
    .execute();
