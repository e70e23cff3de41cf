import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';
import {
  decodePlaces,
  entriesPerChunk,
  gramBytes,
  gramRange,
  gramsOfQuery,
  intersectPlaces,
  weight,
} from './postings.ts';

/**
 * Walks a company's chunks from the last to the first, a page of them a query, and yields the entries of each
 * page that may contain the query, last first. None that does contain it is left out.
 */
export async function* chunkCandidates(
  db: Kysely<Tables>,
  companyId: number,
  chunks: number,
  query: Buffer,
): AsyncGenerator<readonly number[]> {
  if (chunks === 0) return;
  const condition = await gramCondition(db, companyId, chunks - 1, query);
  let pageSize = firstPageChunks;
  for (let end = chunks; end > 0; end -= pageSize, pageSize = nextPagesChunks) {
    const page = Array.from({ length: Math.min(pageSize, end) }, (_, at) => end - 1 - at);
    // Every chunk by its number: a range of chunks would read all of their grams.
    const rows = await db
      .selectFrom('client_search_postings')
      .select(['chunk', 'gram', 'places'])
      .where('company_id', '=', companyId)
      .where('chunk', 'in', page)
      .where((eb) =>
        'grams' in condition
          ? eb('gram', 'in', condition.grams)
          : eb.and([eb('gram', '>=', condition.from), eb('gram', '<=', condition.to)]),
      )
      .execute();
    const setsOfChunk = Map.groupBy(rows, ({ chunk }) => chunk);
    yield page.flatMap((chunk) => {
      const sets = (setsOfChunk.get(chunk) ?? []).map(({ places }) => places);
      if (!('grams' in condition)) return entriesOf(chunk, union(sets));
      return sets.length === condition.grams.length ? entriesOf(chunk, intersectPlaces(sets)) : [];
    });
  }
}

/** A common text has its hits in the first page; a rare one wants all chunks in few queries. */
const firstPageChunks = 8;
const nextPagesChunks = 256;

/** More make the rest fewer, but every one costs a row a chunk. */
const maxGrams = 4;

type GramCondition = { readonly grams: readonly Buffer[] } | { readonly from: Buffer; readonly to: Buffer };

/** The query's grams that are rarest in the last chunk; for one or two bytes, all grams that begin with them. */
const gramCondition = async (
  db: Kysely<Tables>,
  companyId: number,
  chunk: number,
  query: Buffer,
): Promise<GramCondition> => {
  if (query.length < 3) {
    const [from, to] = gramRange(query);
    return { from, to };
  }
  const grams = gramsOfQuery(query).map(gramBytes);
  if (grams.length <= maxGrams) return { grams };
  const rows = await db
    .selectFrom('client_search_postings')
    .select((eb) => ['gram', eb.fn<number>('length', ['places']).as('bytes')])
    .where('company_id', '=', companyId)
    .where('chunk', '=', chunk)
    .where('gram', 'in', grams)
    .execute();
  const weights = new Map(rows.map(({ gram, bytes }) => [gram.toString('latin1'), weight(bytes)]));
  const weigh = (gram: Buffer): number => weights.get(gram.toString('latin1')) ?? 0;
  return { grams: grams.sort((one, other) => weigh(one) - weigh(other)).slice(0, maxGrams) };
};

const entriesOf = (chunk: number, places: readonly number[]): readonly number[] =>
  places.map((place) => chunk * entriesPerChunk + place).reverse();

const union = (sets: readonly Buffer[]): readonly number[] =>
  [...new Set(sets.flatMap(decodePlaces))].sort((one, other) => one - other);
