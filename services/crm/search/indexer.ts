import {
  acrossTenants,
  createMeasurement,
  type Database,
  type Log,
  type Metrics,
  type Repeated,
  repeat,
} from '@causeway/runtime';
import { crmMetrics } from '../metrics.ts';
import type { Tables } from '../tables.ts';
import { foldingVersion } from './fold.ts';
import { indexCompany, refoldCompany } from './index-company.ts';

/**
 * How the client search finds any substring in milliseconds and never misses a committed client. A company's
 * clients are in one of three places, and a search reads them in this order:
 * 1. waiting: `client_search_pending` has a row for each client created or renamed since the last pass. The
 *    writer inserts it in its own transaction, and a search compares these few clients one by one.
 * 2. the tail: up to 4095 entries whose normalised texts are in one blob, which a search reads whole.
 * 3. chunks: 4096 entries each. For every three bytes (a gram) that occur in their texts, a row says where. A
 *    search reads the rows of a few grams of its query and keeps the entries that have them all at the right
 *    distances. A chunk never changes, until `compaction.ts` removes it.
 *
 * Indexers move clients from 1 to 2, and a full tail to 3, each time in one transaction. So a search that
 * reads in this order sees each client at least once. A renamed client gets a second entry and its first
 * becomes stale; therefore a search compares the client's row itself before it shows it.
 */
export const startIndexer = ({ db, log, metrics }: IndexerOptions): Repeated => {
  const waiting = createMeasurement<number>(measuredForMs);
  metrics?.gauge(crmMetrics.crm_search_waiting, waiting.read);
  let pauseMs = minPauseMs;

  const round = async (stopping: AbortSignal): Promise<number> => {
    const startedMs = performance.now();
    pauseMs = failurePauseMs;
    const companies = await busyCompanies(db);
    waiting.set(companies.reduce((sum, company) => sum + company.waiting, 0));
    let taken = 0;
    for (const { company_id, waiting } of companies) {
      let left = waiting;
      for (let passes = 0; left >= minWaiting && passes < maxPasses && !stopping.aborted; passes++) {
        const moved = await indexCompany(db, company_id);
        taken += moved;
        left = moved > 0 ? left - moved : 0;
      }
    }
    for (const { company_id } of await outdatedCompanies(db))
      for (let passes = 0; passes < maxPasses && !stopping.aborted; passes++) {
        const handled = await refoldCompany(db, company_id);
        taken += handled;
        if (handled === 0) break;
      }
    // When idle, looking for work takes at most a hundredth of the time, however long the table is.
    const restMs = 100 * (performance.now() - startedMs);
    pauseMs = taken > 0 ? minPauseMs : Math.min(Math.max(idlePauseMs, restMs), maxPauseMs);
    // Always a pause, in which clients gather.
    return 0;
  };

  return repeat(round, {
    pauseMs: () => pauseMs,
    onError: (error) => log?.error({ error }, 'client indexing failed'),
  });
};

interface IndexerOptions {
  readonly db: Database<Tables>;
  readonly log?: Log | undefined;
  readonly metrics?: Metrics | undefined;
}

/** Fewer clients wait: a pass rewrites the tail, and a search compares so many in half a millisecond. */
const minWaiting = 64;
/** So that a company with a backlog neither delays the others nor needs one round per pass. */
const maxPasses = 16;
const minPauseMs = 100;
const idlePauseMs = 1_000;
const maxPauseMs = 5_000;
const failurePauseMs = 1_000;
/** A round over many busy companies takes minutes. */
const measuredForMs = 600_000;

const busyCompanies = (db: Database<Tables>): Promise<{ company_id: number; waiting: number }[]> =>
  acrossTenants(db, 'the search indexer looks for companies with waiting clients')
    .selectFrom('client_search_pending')
    .select((eb) => ['company_id', eb.fn.countAll<number>().as('waiting')])
    .groupBy('company_id')
    .having((eb) => eb.fn.countAll(), '>=', minWaiting)
    .execute();

const outdatedCompanies = (db: Database<Tables>): Promise<{ company_id: number }[]> =>
  acrossTenants(db, 'the search indexer looks for entries of an earlier folding')
    .selectFrom('client_search_entries')
    .select('company_id')
    .distinct()
    .where('folding', '<', foldingVersion)
    .limit(maxOutdated)
    .execute();

const maxOutdated = 16;
