import { type Database, type Trx, transaction } from '@causeway/runtime';
import type { Tables } from '../tables.ts';
import { entriesPerChunk, withoutPlaces } from './postings.ts';
import { fieldEnd, fieldsPerEntry } from './text.ts';

/** Removes the texts of clients who are gone; the places stay, so that other entries keep theirs. */
export const eraseFromSearch = async (
  db: Database<Tables>,
  companyId: number,
  clientIds: ReadonlySet<number>,
): Promise<void> => {
  const inChunks = await transaction(db, (trx) => eraseFromTail(trx, companyId, clientIds));
  for (const [chunk, entries] of inChunks)
    await transaction(db, (trx) => eraseFromChunk(trx, companyId, chunk, new Set(entries.map(placeOf))));
  await db
    .deleteFrom('client_search_entries')
    .where('company_id', '=', companyId)
    .where('client_id', 'in', [...clientIds])
    .execute();
};

const chunkOf = (entry: number): number => Math.floor(entry / entriesPerChunk);
const placeOf = (entry: number): number => entry % entriesPerChunk;

/** The lock keeps the tail from becoming a chunk. @returns the clients' entries in full chunks, by chunk. */
const eraseFromTail = async (
  trx: Trx<Tables>,
  companyId: number,
  clientIds: ReadonlySet<number>,
): Promise<ReadonlyMap<number, readonly number[]>> => {
  const tail = await trx
    .selectFrom('client_search_tails')
    .select(['chunk', 'texts'])
    .where('company_id', '=', companyId)
    .forUpdate()
    .executeTakeFirst();
  if (!tail) return new Map();
  const found = await trx
    .selectFrom('client_search_entries')
    .select('entry')
    .where('company_id', '=', companyId)
    .where('client_id', 'in', [...clientIds])
    .execute();
  const byChunk = Map.groupBy(
    found.map(({ entry }) => entry),
    chunkOf,
  );
  const inTail = byChunk.get(tail.chunk) ?? [];
  if (inTail.length > 0)
    await trx
      .updateTable('client_search_tails')
      .set({ texts: inTail.map(placeOf).reduce(withoutText, tail.texts) })
      .where('company_id', '=', companyId)
      .execute();
  byChunk.delete(tail.chunk);
  return byChunk;
};

/** The entry keeps its empty fields. */
const withoutText = (texts: Buffer, place: number): Buffer => {
  let at = 0;
  const skip = (fields: number): number => {
    for (; fields > 0; fields--) at = texts.indexOf(fieldEnd, at) + 1;
    return at;
  };
  const start = skip(place * fieldsPerEntry);
  const end = skip(fieldsPerEntry);
  return Buffer.concat([
    texts.subarray(0, start),
    Buffer.alloc(fieldsPerEntry, fieldEnd),
    texts.subarray(end),
  ]);
};

const eraseFromChunk = async (
  trx: Trx<Tables>,
  companyId: number,
  chunk: number,
  places: ReadonlySet<number>,
): Promise<void> => {
  const ofChunk = await trx
    .selectFrom('client_search_postings')
    .select(['gram', 'occurrences'])
    .where('company_id', '=', companyId)
    .where('chunk', '=', chunk)
    .forUpdate()
    .execute();
  for (const { gram, occurrences } of ofChunk) {
    const left = withoutPlaces(occurrences, places);
    if (left.length === occurrences.length) continue;
    await trx
      .updateTable('client_search_postings')
      .set({ occurrences: left })
      .where('company_id', '=', companyId)
      .where('chunk', '=', chunk)
      .where('gram', '=', gram)
      .execute();
  }
};
