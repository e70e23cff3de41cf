import { type Database, isLockedNoWait, later, type Trx, transaction } from '@causeway/runtime';
import { sql } from 'kysely';
import type { Tables } from '../tables.ts';
import { foldingVersion, foldsAlike } from './fold.ts';
import { buildPostings, entriesPerChunk } from './postings.ts';
import { entryText, searchText } from './text.ts';

/**
 * Takes no more than fit in the chunk, and writes in one round trip. The lock on the company's tail keeps other indexers out.
 * @returns the number of waiting rows taken; 0 if there are none or another indexer holds the lock.
 */
export const indexCompany = (db: Database<Tables>, companyId: number): Promise<number> =>
  atTail(db, companyId, async (trx, tail, limit) => {
    const waiting = await takeWaiting(trx, companyId, limit);
    if (waiting.length === 0) return 0;
    await append(trx, companyId, tail, waiting.flatMap(indexedFields));
    await forget(trx, companyId, waiting);
    return waiting.length;
  });

/**
 * Indexes again the clients whose entries another version of the folding wrote, such as the indexer of the release before.
 * The former entries stay, as those of renamed clients do, and count as folded.
 * @returns the number of entries handled.
 */
export const refoldCompany = (db: Database<Tables>, companyId: number): Promise<number> =>
  atTail(db, companyId, async (trx, tail, limit) => {
    const outdated = await takeOutdated(trx, companyId, limit);
    if (outdated.length === 0) return 0;
    const differing = ({ first_name, last_name, email }: KnownClient): boolean =>
      !foldsAlike(`${first_name} ${last_name} ${email}`);
    await append(trx, companyId, tail, outdated.flatMap(indexedFields).filter(differing));
    await trx
      .updateTable('client_search_entries')
      .set({ folding: foldingVersion })
      .where('company_id', '=', companyId)
      .where(
        'entry',
        'in',
        outdated.map(({ entry }) => entry),
      )
      .execute();
    return outdated.length;
  });

/** Gives the first of these clients new entries. @returns how many; 0 if another indexer holds the lock. */
export const reindexClients = (
  db: Database<Tables>,
  companyId: number,
  clientIds: readonly number[],
): Promise<number> =>
  atTail(db, companyId, async (trx, tail, limit) => {
    const taken = clientIds.slice(0, limit);
    const rows = await trx
      .selectFrom('clients')
      .select(['client_id', 'first_name', 'last_name', 'email'])
      .where('company_id', '=', companyId)
      .where('client_id', 'in', taken)
      .execute();
    const clients = new Map(rows.map((row) => [row.client_id, row]));
    await append(
      trx,
      companyId,
      tail,
      taken.flatMap((id) => clients.get(id) ?? []),
    );
    return taken.length;
  });

/** What is read after the lock is at least as recent as any entry: a client's last entry has its latest indexed text. */
const atTail = (
  db: Database<Tables>,
  companyId: number,
  work: (trx: Trx<Tables>, tail: Tail, limit: number) => Promise<number>,
): Promise<number> =>
  transaction(db, async (trx) => {
    const tail = await lockTail(trx, companyId);
    return tail ? work(trx, tail, Math.min(entriesPerChunk - tail.entries, entriesPerPass)) : 0;
  });

/** A pass blocks the event loop, which also answers requests, for a few milliseconds. */
const entriesPerPass = 1024;

interface Tail {
  readonly chunk: number;
  readonly entries: number;
}

/** A client deleted since comes without its fields. */
interface SearchedClient {
  readonly client_id: number;
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

const takeWaiting = (
  trx: Trx<Tables>,
  companyId: number,
  limit: number,
): Promise<(SearchedClient & { readonly mark: number })[]> =>
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

const takeOutdated = (
  trx: Trx<Tables>,
  companyId: number,
  limit: number,
): Promise<(SearchedClient & { readonly entry: number })[]> =>
  trx
    .selectFrom('client_search_entries as entries')
    .leftJoin('clients', (join) =>
      join.on('clients.company_id', '=', companyId).onRef('clients.client_id', '=', 'entries.client_id'),
    )
    .select(['entries.client_id', 'entry', 'first_name', 'last_name', 'email'])
    .where('entries.company_id', '=', companyId)
    .where('folding', '<', foldingVersion)
    .orderBy('entry')
    .limit(limit)
    .execute();

type KnownClient = ReturnType<typeof indexedFields>[number];

const indexedFields = ({ client_id, first_name, last_name, email }: SearchedClient) =>
  first_name !== null && last_name !== null && email !== null
    ? [{ client_id, first_name, last_name, email }]
    : [];

/** @param some no more than the chunk has room for; a client may be among them several times */
const append = async (
  trx: Trx<Tables>,
  companyId: number,
  tail: Tail,
  some: readonly KnownClient[],
): Promise<void> => {
  const clients = [...new Map(some.map((client) => [client.client_id, client])).values()];
  if (clients.length === 0) return;
  const firstEntry = tail.chunk * entriesPerChunk + tail.entries;
  const entries = clients.map(({ client_id }, at) => ({
    company_id: companyId,
    entry: firstEntry + at,
    client_id,
    folding: foldingVersion,
  }));
  await later(trx, trx.insertInto('client_search_entries').values(entries).compile());
  const texts = Buffer.from(clients.map((client) => entryText(searchText(client))).join(''));
  const filled = tail.entries + clients.length;
  if (filled < entriesPerChunk) await growTail(trx, companyId, filled, texts);
  else await closeChunk(trx, companyId, tail.chunk, texts);
};

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
  waiting: readonly { readonly client_id: number; readonly mark: number }[],
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
