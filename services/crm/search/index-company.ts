import { type Database, isLockedNoWait, later, type Trx, transaction } from '@causeway/runtime';
import { sql } from 'kysely';
import type { Tables } from '../tables.ts';
import { buildPostings, entriesPerChunk } from './postings.ts';
import { entryText, searchText } from './text.ts';

/**
 * Takes no more than fit in the chunk, and writes in one round trip. The lock on the company's tail keeps other indexers out.
 * @returns the number of waiting rows taken; 0 if there are none or another indexer holds the lock.
 */
export const indexCompany = (db: Database<Tables>, companyId: number): Promise<number> =>
  transaction(db, async (trx) => {
    const tail = await lockTail(trx, companyId);
    if (!tail) return 0;
    const room = entriesPerChunk - tail.entries;
    const waiting = await takeWaiting(trx, companyId, Math.min(room, entriesPerPass));
    if (waiting.length === 0) return 0;
    const clients = [...new Map(waiting.flatMap(known).map((client) => [client.client_id, client])).values()];
    if (clients.length > 0) {
      const firstEntry = tail.chunk * entriesPerChunk + tail.entries;
      const entries = clients.map(({ client_id }, at) => ({
        company_id: companyId,
        entry: firstEntry + at,
        client_id,
      }));
      await later(trx, trx.insertInto('client_search_entries').values(entries).compile());
      const texts = Buffer.from(clients.map((client) => entryText(searchText(client))).join(''));
      if (clients.length < room) await growTail(trx, companyId, tail.entries + clients.length, texts);
      else await closeChunk(trx, companyId, tail.chunk, texts);
    }
    await forget(trx, companyId, waiting);
    return waiting.length;
  });

/** A pass blocks the event loop, which also answers requests, for a few milliseconds. */
const entriesPerPass = 1024;

interface Tail {
  readonly chunk: number;
  readonly entries: number;
}

interface PendingClient {
  readonly client_id: number;
  readonly mark: number;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly email: string | null;
}

const lockTail = async (trx: Trx<Tables>, companyId: number): Promise<Tail | undefined> => {
  const read = trx
    .selectFrom('client_search_tails')
    .select(['chunk', 'entries'])
    .where('company_id', '=', companyId)
    .forUpdate();
  try {
    const tail = await read.noWait().executeTakeFirst();
    if (tail) return tail;
  } catch (error) {
    if (isLockedNoWait(error)) return undefined;
    throw error;
  }
  await trx
    .insertInto('client_search_tails')
    .ignore()
    .values({ company_id: companyId, texts: Buffer.alloc(0) })
    .execute();
  return read.executeTakeFirstOrThrow();
};

/** A client deleted since it was marked comes without its fields. */
const takeWaiting = (trx: Trx<Tables>, companyId: number, limit: number): Promise<PendingClient[]> =>
  trx
    .selectFrom('client_search_pending as pending')
    .leftJoin('clients', (join) =>
      join.on('clients.company_id', '=', companyId).onRef('clients.client_id', '=', 'pending.client_id'),
    )
    .select(['pending.client_id', 'mark', 'first_name', 'last_name', 'email'])
    .where('pending.company_id', '=', companyId)
    .orderBy('pending.client_id')
    .limit(limit)
    .execute();

const known = ({ client_id, first_name, last_name, email }: PendingClient) =>
  first_name !== null && last_name !== null && email !== null
    ? [{ client_id, first_name, last_name, email }]
    : [];

const growTail = async (
  trx: Trx<Tables>,
  companyId: number,
  entries: number,
  texts: Buffer,
): Promise<void> => {
  const grow = trx
    .updateTable('client_search_tails')
    .set({ entries, texts: sql<Buffer>`CONCAT(texts, ${texts})` })
    .where('company_id', '=', companyId);
  await later(trx, grow.compile());
};

const closeChunk = async (
  trx: Trx<Tables>,
  companyId: number,
  chunk: number,
  lastTexts: Buffer,
): Promise<void> => {
  const { texts } = await trx
    .selectFrom('client_search_tails')
    .select('texts')
    .where('company_id', '=', companyId)
    .executeTakeFirstOrThrow();
  const postings = buildPostings(Buffer.concat([texts, lastTexts]));
  for (let at = 0; at < postings.length; at += rowsPerInsert) {
    await trx
      .insertInto('client_search_postings')
      .values(
        postings
          .slice(at, at + rowsPerInsert)
          .map(([gram, occurrences]) => ({ company_id: companyId, chunk, gram, occurrences })),
      )
      .execute();
  }
  await trx
    .updateTable('client_search_tails')
    .set({ chunk: chunk + 1, entries: 0, texts: Buffer.alloc(0) })
    .where('company_id', '=', companyId)
    .execute();
};

const rowsPerInsert = 500;

/** Deletes exactly the rows that were read: a client marked again meanwhile keeps its newer mark. */
const forget = async (
  trx: Trx<Tables>,
  companyId: number,
  waiting: readonly PendingClient[],
): Promise<void> => {
  const taken = trx
    .deleteFrom('client_search_pending')
    .where('company_id', '=', companyId)
    .where('client_id', '>=', waiting[0]!.client_id)
    .where('client_id', '<=', waiting[waiting.length - 1]!.client_id)
    .where(
      'mark',
      'in',
      waiting.map(({ mark }) => mark),
    );
  await later(trx, taken.compile());
};
