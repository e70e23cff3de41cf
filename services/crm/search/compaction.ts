import {
  acrossTenants,
  type Database,
  eachAlone,
  type Log,
  type Repeated,
  repeat,
  tenantIs,
  transaction,
} from '@causeway/runtime';
import { sql } from 'kysely';
import type { Tables } from '../tables.ts';
import { reindexClients } from './index-company.ts';
import { entriesPerChunk } from './postings.ts';

export const startCompaction = ({ db, log }: CompactionOptions): Repeated =>
  repeat(createCompaction(db), {
    pauseMs: roundPauseMs,
    onError: (error) => log.error({ error }, 'compacting the client search failed'),
  });

/**
 * Removes the chunks that hold little but former entries of renamed clients (`indexer.ts`). A round gives the other clients of such a chunk
 * new entries in the tail; the next round removes it: a search that read the tail before finds them in the chunk.
 * A killed process loses nothing, and replicas may compact at once: once a chunk has no client's latest entry, it never has one again.
 * @returns a round, which returns 0.
 */
export const createCompaction = (db: Database<Tables>): ((stopping?: AbortSignal) => Promise<number>) => {
  const emptied: Chunk[] = [];
  /** The number of a company's tail from which its chunks are counted again. */
  const nextChecks = new Map<number, number>();
  return async (stopping) => {
    for (let chunk = emptied[0]; chunk; emptied.shift(), chunk = emptied[0]) await removeChunk(db, chunk);
    const companies = await companiesWithChunks(db);
    await eachAlone(companies, async ({ companyId, chunk: tail }) => {
      if (tail < (nextChecks.get(companyId) ?? 0)) return;
      const chunks = await chunksBefore(db, companyId, tail - 1);
      let isDone = true;
      for (const chunk of chunks) {
        if (stopping?.aborted) return;
        const clientIds = await latestIn(db, companyId, chunk);
        if (clientIds.length > maxLive) continue;
        if (await moveClients(db, companyId, clientIds)) emptied.push({ companyId, chunk });
        else isDone = false;
      }
      if (isDone) nextChecks.set(companyId, tail + Math.max(1, Math.floor(chunks.length * checkedGrowth)));
    });
    return 0;
  };
};

interface Chunk {
  readonly companyId: number;
  readonly chunk: number;
}

/** Longer than any search lasts. */
const roundPauseMs = 60_000;
/**
 * A quarter. Measured with random renames, it keeps 1.6 entries of a client and moves 0.22 for a rename. Half keeps a quarter less and
 * moves three times as much.
 */
const maxLive = entriesPerChunk / 4;
/** A check reads all entries of a company. So it follows when the company has grown by a share. */
const checkedGrowth = 0.25;

/** The last chunk stays: it tells searches which texts are rare. */
const companiesWithChunks = (db: Database<Tables>): Promise<Chunk[]> =>
  acrossTenants(db, 'compaction looks for companies with several chunks')
    .selectFrom('client_search_tails')
    .select(['company_id as companyId', 'chunk'])
    .where('chunk', '>=', 2)
    .execute();

const chunksBefore = async (db: Database<Tables>, companyId: number, last: number): Promise<number[]> => {
  const chunks = await db
    .selectFrom('client_search_postings')
    .select('chunk')
    .distinct()
    .where('company_id', '=', companyId)
    .where('chunk', '<', last)
    .orderBy('chunk')
    .execute();
  return chunks.map(({ chunk }) => chunk);
};

/** @returns the clients whose latest entry is in the chunk, or one more than it may be emptied of. */
const latestIn = async (db: Database<Tables>, companyId: number, chunk: number): Promise<number[]> => {
  const first = chunk * entriesPerChunk;
  // Without the hint, MySQL may compare each entry with all of the company.
  const { rows } = await sql<{ client_id: number }>`
    SELECT e.client_id FROM client_search_entries AS e
    LEFT JOIN client_search_entries AS l FORCE INDEX (client)
      ON l.company_id = ${tenantIs(companyId)} AND l.client_id = e.client_id AND l.entry > e.entry
    WHERE e.company_id = ${tenantIs(companyId)} AND e.entry >= ${first} AND e.entry < ${first + entriesPerChunk}
      AND l.entry IS NULL
    ORDER BY e.entry LIMIT ${sql.lit(maxLive + 1)}`.execute(db);
  return rows.map(({ client_id }) => client_id);
};

/** @returns false if an indexer was at the tail. */
const moveClients = async (
  db: Database<Tables>,
  companyId: number,
  clientIds: readonly number[],
): Promise<boolean> => {
  for (let at = 0; at < clientIds.length; ) {
    const moved = await reindexClients(db, companyId, clientIds.slice(at));
    if (moved === 0) return false;
    at += moved;
  }
  return true;
};

const removeChunk = (db: Database<Tables>, { companyId, chunk }: Chunk): Promise<void> =>
  transaction(db, async (trx) => {
    await trx
      .deleteFrom('client_search_postings')
      .where('company_id', '=', companyId)
      .where('chunk', '=', chunk)
      .execute();
    await trx
      .deleteFrom('client_search_entries')
      .where('company_id', '=', companyId)
      .where('entry', '>=', chunk * entriesPerChunk)
      .where('entry', '<', (chunk + 1) * entriesPerChunk)
      .execute();
  });

interface CompactionOptions {
  readonly db: Database<Tables>;
  readonly log: Log;
}
