import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';
import {
  alignGrams,
  chooseGrams,
  entriesPerChunk,
  type Gram,
  gramBytes,
  gramRange,
  gramsOfQuery,
  lookupBytes,
  type Matches,
  placesAmong,
  placesOf,
  type QueryGram,
} from './postings.ts';

/**
 * From the last chunk to the first, a page at a time. Never skips an entry that contains the query.
 *
 * A page is read in steps: first the few rarest grams, which leave few candidates; then the other grams, but only in chunks
 * that have candidates, and only if that costs less than to compare the candidates' rows. Measured on a million clients, with
 * all grams read at once: a text that nobody has took a thousand lookups, and one spliced from common parts 4 MB.
 */
export async function* chunkCandidates(
  db: Kysely<Tables>,
  { companyId, chunks, query, weights }: ChunkSearch,
): AsyncGenerator<readonly number[]> {
  if (chunks === 0) return;
  const grams = gramsOfQuery(query);

  const placesIn = async (page: readonly number[], steps: readonly Step[]): Promise<Places> => {
    let candidates = new Map<number, Matches | undefined>(page.map((chunk) => [chunk, undefined]));
    for (const [at, { grams: some, weight }] of steps.entries()) {
      const count = [...candidates.values()].reduce((sum, matches) => sum + (matches?.length ?? 0), 0);
      if (at > 0 && candidates.size * weight >= count * rowBytes) break;
      const found = byChunk(await readGrams(db, companyId, [...candidates.keys()], some));
      candidates = new Map(
        [...candidates].flatMap(([chunk, given]) => {
          const matches = aligned(some, found.get(chunk) ?? [], given);
          return matches.length > 0 ? [[chunk, matches] as const] : [];
        }),
      );
    }
    return new Map([...candidates].map(([chunk, matches]) => [chunk, placesAmong(matches!)]));
  };

  const { steps, rarest } = stepsOf(grams, weights);
  // A common text has its hits in the first page; a rare one needs all chunks in few queries.
  let pageSize = rarest * firstPageChunks < wantedBytes ? maxPageChunks : firstPageChunks;
  for (let end = chunks; end > 0; end -= pageSize, pageSize = Math.min(8 * pageSize, maxPageChunks)) {
    const page = Array.from({ length: Math.min(pageSize, end) }, (_, at) => end - 1 - at);
    const places =
      grams.length > 0
        ? await placesIn(page, steps)
        : new Map(
            [...byChunk(await readBeginning(db, companyId, page, query))].map(
              ([chunk, postings]) => [chunk, anyOf(postings)] as const,
            ),
          );
    yield page.flatMap((chunk) =>
      (places.get(chunk) ?? []).map((place) => chunk * entriesPerChunk + place).reverse(),
    );
  }
}

interface ChunkSearch {
  readonly companyId: number;
  /** The number of chunks. */
  readonly chunks: number;
  readonly query: Buffer;
  readonly weights: Weights;
}

/** The places of candidates by chunk. */
type Places = ReadonlyMap<number, readonly number[]>;

/** Grams to read together, and what reading them costs in a chunk, in bytes. */
interface Step {
  readonly grams: readonly QueryGram[];
  readonly weight: number;
}

const firstPageChunks = 8;
const maxPageChunks = 256;
/** The occurrences of the hits that an answer shows take at most so many bytes. */
const wantedBytes = 64;
/** What it costs to compare a candidate's row, in bytes of occurrences. */
const rowBytes = 2_000;

interface Posting {
  readonly chunk: number;
  readonly gram: Buffer;
  readonly occurrences: Buffer;
}

const byChunk = (postings: readonly Posting[]): ReadonlyMap<number, readonly Posting[]> =>
  Map.groupBy(postings, ({ chunk }) => chunk);

/** The bytes of a gram's occurrences in the last chunk, which shows which grams are rare. */
export type Weights = ReadonlyMap<Gram, number>;

/** One or two bytes only begin grams: their weights are together that of gram 0. */
export const readWeights = async (db: Kysely<Tables>, companyId: number, query: Buffer): Promise<Weights> => {
  const grams = gramsOfQuery(query);
  const [from, to] = gramRange(query);
  const rows = await db
    .selectFrom('client_search_postings')
    .select((eb) => ['gram', eb.fn<number>('length', ['occurrences']).as('bytes')])
    .where('company_id', '=', companyId)
    .where('chunk', '=', (eb) =>
      eb
        .selectFrom('client_search_tails')
        .select(sql<number>`CAST(chunk AS SIGNED) - 1`.as('last'))
        .where('company_id', '=', companyId),
    )
    .$if(grams.length > 0, (some) => some.where('gram', 'in', distinctBytes(grams)))
    .$if(grams.length === 0, (some) => some.where('gram', '>=', from).where('gram', '<=', to))
    .execute();
  return grams.length > 0
    ? new Map(rows.map(({ gram, bytes }) => [gramOf(gram), bytes]))
    : new Map([[0, rows.reduce((sum, { bytes }) => sum + bytes, 0)]]);
};

/** @returns the steps, and the bytes that the rarest gram has in a chunk. */
const stepsOf = (grams: readonly QueryGram[], weights: Weights) => {
  const weigh = ({ gram }: QueryGram): number => weights.get(gram) ?? 0;
  const byWeight = [...new Map(grams.map((one) => [one.gram, one])).values()].sort(
    (one, other) => weigh(one) - weigh(other),
  );
  const rarest = byWeight[0] ? weigh(byWeight[0]) : (weights.get(0) ?? 0);
  // A gram that the last chunk does not have leaves few candidates alone.
  const first = byWeight.slice(0, rarest === 0 ? 1 : 2);
  const rest = chooseGrams(grams, weigh).filter((one) => !first.includes(one));
  const stepOf = (some: readonly QueryGram[]): Step => ({
    grams: some,
    weight: some.reduce((sum, one) => sum + weigh(one) + lookupBytes, 0),
  });
  // Light grams together, heavy ones alone: after each, so few candidates may be left that no more are needed.
  const light = rest.filter((one) => weigh(one) < lookupBytes);
  const heavy = rest.filter((one) => !light.includes(one)).sort((one, other) => weigh(one) - weigh(other));
  const steps = [first, light, ...heavy.map((one) => [one])].filter((some) => some.length > 0).map(stepOf);
  return { steps, rarest };
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
  grams: readonly QueryGram[],
  postings: readonly Posting[],
  before: Matches | undefined,
): Matches => {
  const occurrencesOf = new Map(postings.map(({ gram, occurrences }) => [gramOf(gram), occurrences]));
  return alignGrams(
    grams.map(({ gram, offset }) => ({ offset, occurrences: occurrencesOf.get(gram) ?? nothing })),
    before,
  );
};

const nothing = Buffer.alloc(0);

const anyOf = (postings: readonly Posting[]): readonly number[] =>
  [...new Set(postings.flatMap(({ occurrences }) => placesOf(occurrences)))].sort(
    (one, other) => one - other,
  );

const distinctBytes = (grams: readonly QueryGram[]): readonly Buffer[] =>
  [...new Set(grams.map(({ gram }) => gram))].map(gramBytes);

const gramOf = (bytes: Buffer): Gram => bytes.readUIntBE(0, 3);
