import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';
import {
  type Aligner,
  chooseGrams,
  createAligner,
  entriesPerChunk,
  type Gram,
  gramBytes,
  gramRange,
  gramsOfQuery,
  placesOf,
  type QueryGram,
} from './postings.ts';

/** From the last chunk to the first, one query per page. Never skips an entry that contains the query. */
export async function* chunkCandidates(
  db: Kysely<Tables>,
  companyId: number,
  chunks: number,
  query: Buffer,
): AsyncGenerator<readonly number[]> {
  if (chunks === 0) return;
  const grams = await gramsToRead(db, companyId, chunks - 1, query);
  const align = createAligner();
  let pageSize = firstPageChunks;
  for (let end = chunks; end > 0; end -= pageSize, pageSize = Math.min(4 * pageSize, maxPageChunks)) {
    const page = Array.from({ length: Math.min(pageSize, end) }, (_, at) => end - 1 - at);
    const postingsOf = Map.groupBy(
      await (grams ? readGrams(db, companyId, page, grams) : readBeginning(db, companyId, page, query)),
      ({ chunk }) => chunk,
    );
    yield page.flatMap((chunk) => {
      const postings = postingsOf.get(chunk) ?? [];
      const places = grams ? aligned(align, grams, postings) : anyOf(postings);
      return places.map((place) => chunk * entriesPerChunk + place).reverse();
    });
  }
}

/** A common text has its hits in the first page; a rare one needs all chunks in few queries. */
const firstPageChunks = 8;
const maxPageChunks = 256;

interface Posting {
  readonly chunk: number;
  readonly gram: Buffer;
  readonly occurrences: Buffer;
}

/** Undefined for one or two bytes, which only begin a gram. The last chunk shows which grams are rare. */
const gramsToRead = async (
  db: Kysely<Tables>,
  companyId: number,
  chunk: number,
  query: Buffer,
): Promise<readonly QueryGram[] | undefined> => {
  const grams = gramsOfQuery(query);
  if (grams.length <= 1) return grams.length === 0 ? undefined : grams;
  const rows = await db
    .selectFrom('client_search_postings')
    .select((eb) => ['gram', eb.fn<number>('length', ['occurrences']).as('bytes')])
    .where('company_id', '=', companyId)
    .where('chunk', '=', chunk)
    .where('gram', 'in', distinctBytes(grams))
    .execute();
  const weights = new Map(rows.map(({ gram, bytes }) => [gramOf(gram), bytes]));
  return chooseGrams(grams, ({ gram }) => weights.get(gram) ?? 0);
};

/** Asks for every chunk by number: for a range of chunks, MySQL would read all the grams. */
const readGrams = (
  db: Kysely<Tables>,
  companyId: number,
  page: readonly number[],
  grams: readonly QueryGram[],
): Promise<Posting[]> =>
  db
    .selectFrom('client_search_postings')
    .select(['chunk', 'gram', 'occurrences'])
    .where('company_id', '=', companyId)
    .where('chunk', 'in', page)
    .where('gram', 'in', distinctBytes(grams))
    .execute();

const readBeginning = (
  db: Kysely<Tables>,
  companyId: number,
  page: readonly number[],
  beginning: Buffer,
): Promise<Posting[]> => {
  const [from, to] = gramRange(beginning);
  return db
    .selectFrom('client_search_postings')
    .select(['chunk', 'gram', 'occurrences'])
    .where('company_id', '=', companyId)
    .where('chunk', 'in', page)
    .where('gram', '>=', from)
    .where('gram', '<=', to)
    .execute();
};

const aligned = (
  align: Aligner,
  grams: readonly QueryGram[],
  postings: readonly Posting[],
): readonly number[] => {
  const occurrencesOf = new Map(postings.map(({ gram, occurrences }) => [gramOf(gram), occurrences]));
  const found = grams.flatMap(({ gram, offset }) => {
    const occurrences = occurrencesOf.get(gram);
    return occurrences ? [{ offset, occurrences }] : [];
  });
  return found.length === grams.length ? align(found) : [];
};

const anyOf = (postings: readonly Posting[]): readonly number[] =>
  [...new Set(postings.flatMap(({ occurrences }) => placesOf(occurrences)))].sort(
    (one, other) => one - other,
  );

const distinctBytes = (grams: readonly QueryGram[]): readonly Buffer[] =>
  [...new Set(grams.map(({ gram }) => gram))].map(gramBytes);

const gramOf = (bytes: Buffer): Gram => bytes.readUIntBE(0, 3);
