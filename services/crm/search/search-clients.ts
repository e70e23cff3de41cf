import { contract, problem } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import type { CrmContext } from '../context.ts';
import { phoneDigits } from '../phones.ts';
import type { Tables } from '../tables.ts';
import { chunkCandidates, readWeights } from './chunk-candidates.ts';
import { fold } from './fold.ts';
import { entriesPerChunk } from './postings.ts';
import { contains, maxFieldCharacters, searchText, tailPlaces } from './text.ts';

/** Matches by external id or phone number, the most specific, come first (contract, "Client search"). */
export const searchClients = ({ db }: CrmContext) =>
  handler(contract.searchClients, async ({ companyId, query, deadlineMs }) => {
    const { q, limit } = query;
    const isId = /^\d+$/.test(q);
    const found =
      q === ''
        ? []
        : isId
          ? await findById(db, companyId, Number(q))
          : await findByWords(db, { companyId, q, limit, deadlineMs });
    const clients = found.map(labelled);
    return json(200, { clients, count: clients.length });
  });

interface WordSearch {
  readonly companyId: number;
  readonly q: string;
  readonly limit: number;
  readonly deadlineMs: number;
}

/** By external id, phone number, and a part of the name or the email. */
export const findByWords = async (
  db: Kysely<Tables>,
  { companyId, q, limit, deadlineMs }: WordSearch,
): Promise<readonly FoundClient[]> => {
  const lists = await Promise.all([
    // Case-sensitive.
    findByPrefix(db, companyId, 'external_id', q, limit),
    findByPhone(db, companyId, q, limit),
    findByText(db, { companyId, query: fold(q), limit, deadlineMs }),
  ]);
  return [...new Map(lists.flat().map((client) => [client.client_id, client])).values()].slice(0, limit);
};

const labelled = ({ client_id, first_name, last_name, email, phone }: FoundClient) => ({
  id: client_id,
  name: `${first_name} ${last_name} · ${email || phone}`,
});

/** Accepts any number, even one that no id can have. */
const findById = async (
  db: Kysely<Tables>,
  companyId: number,
  clientId: number,
): Promise<readonly FoundClient[]> => {
  if (!Number.isSafeInteger(clientId)) return [];
  return db
    .selectFrom('clients')
    .select(foundColumns)
    .where('company_id', '=', companyId)
    .where('client_id', '=', clientId)
    .execute();
};

/** Fewer digits would match too many numbers and push every other match out of the answer. */
const minPhoneDigits = 3;

/** Only what phone numbers are written with, and at least three digits (contract, "Client search"). */
const findByPhone = async (
  db: Kysely<Tables>,
  companyId: number,
  query: string,
  limit: number,
): Promise<readonly FoundClient[]> => {
  if (!/^(?:tel:)?(?:[\d\s+().\-/x#;=]|ext(?:n|ension)?|int)+$/i.test(query)) return [];
  const { all, dialled } = phoneDigits(query);
  const find = (column: 'phone_reversed' | 'phone_main_reversed', digits: string) =>
    digits.length < minPhoneDigits ? [] : findByPrefix(db, companyId, column, digits, limit);
  const lists = await Promise.all([
    find('phone_reversed', all),
    dialled === all ? [] : find('phone_reversed', dialled),
    find('phone_main_reversed', dialled),
  ]);
  return lists.flat();
};

/** Sorted by the column's index, so the query stops after `limit` rows. */
const findByPrefix = (
  db: Kysely<Tables>,
  companyId: number,
  column: 'external_id' | 'phone_reversed' | 'phone_main_reversed',
  prefix: string,
  limit: number,
): Promise<FoundClient[]> =>
  db
    .selectFrom('clients')
    .select(foundColumns)
    .where('company_id', '=', companyId)
    .where(column, 'like', `${prefix.replace(/[\\%_]/g, '\\$&')}%`)
    .orderBy(column)
    .limit(limit)
    .execute();

interface FoundClient {
  readonly client_id: number;
  readonly first_name: string;
  readonly last_name: string;
  readonly email: string;
  readonly phone: string | null;
}

const foundColumns = ['clients.client_id', 'first_name', 'last_name', 'email', 'phone'] as const;

interface TextSearch {
  readonly companyId: number;
  readonly query: string;
  readonly limit: number;
  /** `performance.now()` at which the caller gives up. */
  readonly deadlineMs: number;
}

/** The most recently created or renamed first. `indexer.ts` explains why the order of the reads matters. */
export const findByText = async (db: Kysely<Tables>, search: TextSearch): Promise<readonly FoundClient[]> => {
  const { companyId, query, limit } = search;
  // A query of accents only normalises to nothing, and no indexed text is longer than the limit.
  if (query === '' || query.length > maxFieldCharacters) return [];
  const found = new Map<number, FoundClient>();
  const offer = (clients: readonly FoundClient[]): void => {
    for (const client of clients) {
      if (found.size < limit && contains(searchText(client), query)) found.set(client.client_id, client);
    }
  };
  /** @returns whether to continue the search. */
  const offerEntries = async (entries: readonly number[]): Promise<boolean> => {
    let slice = Math.max(limit, minSlice);
    for (let at = 0; at < entries.length && found.size < limit; at += slice, slice = maxSlice) {
      if (performance.now() > search.deadlineMs) throw problem('timeout');
      offer(await clientsOfEntries(db, companyId, entries.slice(at, at + slice)));
    }
    return found.size < limit;
  };

  const bytes = Buffer.from(query);
  // Only statistics: they may be of another moment.
  const [waiting, weights] = await Promise.all([
    waitingClients(db, companyId),
    readWeights(db, companyId, bytes),
  ]);
  offer(waiting);
  if (found.size === limit) return [...found.values()];
  const tail = await readTail(db, companyId);
  if (!tail) return [...found.values()];
  const firstOfTail = tail.chunk * entriesPerChunk;
  if (await offerEntries(tailPlaces(tail.texts, bytes).map((place) => firstOfTail + place))) {
    for await (const entries of chunkCandidates(db, {
      companyId,
      chunks: tail.chunk,
      query: bytes,
      weights,
    })) {
      if (!(await offerEntries(entries))) break;
    }
  }
  return [...found.values()];
};

/** Candidates are compared in slices, so that a common text reads few more clients than it shows. */
const minSlice = 32;
const maxSlice = 512;

/** If indexing falls behind, a search still ends: it then misses the oldest waiting clients. */
const maxWaiting = 5000;

const waitingClients = (db: Kysely<Tables>, companyId: number): Promise<FoundClient[]> =>
  db
    .selectFrom('client_search_pending as pending')
    .innerJoin('clients', (join) =>
      join.on('clients.company_id', '=', companyId).onRef('clients.client_id', '=', 'pending.client_id'),
    )
    .select(foundColumns)
    .where('pending.company_id', '=', companyId)
    .orderBy('pending.client_id', 'desc')
    .limit(maxWaiting)
    .execute();

const readTail = (
  db: Kysely<Tables>,
  companyId: number,
): Promise<{ chunk: number; texts: Buffer } | undefined> =>
  db
    .selectFrom('client_search_tails')
    .select(['chunk', 'texts'])
    .where('company_id', '=', companyId)
    .executeTakeFirst();

const clientsOfEntries = (
  db: Kysely<Tables>,
  companyId: number,
  entries: readonly number[],
): Promise<FoundClient[]> =>
  db
    .selectFrom('client_search_entries as entries')
    .innerJoin('clients', (join) =>
      join.on('clients.company_id', '=', companyId).onRef('clients.client_id', '=', 'entries.client_id'),
    )
    .select(foundColumns)
    .where('entries.company_id', '=', companyId)
    .where('entry', 'in', entries)
    .orderBy('entry', 'desc')
    .execute();
