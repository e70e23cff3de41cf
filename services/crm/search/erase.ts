import { type Database, type Trx, transaction } from '@causeway/runtime';
import type { Tables } from '../tables.ts';
import { entriesPerChunk, withoutPlace } from './postings.ts';
import { fieldEnd, fieldsPerEntry } from './text.ts';

/** Removes the texts of a client who is gone; the places stay, so that other entries keep theirs. */
export const eraseFromSearch = (db: Database<Tables>, companyId: number, clientId: number): Promise<void> =>
  transaction(db, async (trx) => {
    const tail = await trx
      .selectFrom('client_search_tails')
      .select(['chunk', 'texts'])
      .where('company_id', '=', companyId)
      .forUpdate()
      .executeTakeFirst();
    if (!tail) return;
    const entries = await trx
      .selectFrom('client_search_entries')
      .select('entry')
      .where('company_id', '=', companyId)
      .where('client_id', '=', clientId)
      .execute();
    let { texts } = tail;
    for (const { entry } of entries) {
      const [chunk, place] = [Math.floor(entry / entriesPerChunk), entry % entriesPerChunk];
      if (chunk === tail.chunk) texts = withoutText(texts, place);
      else await eraseFromChunk(trx, companyId, chunk, place);
    }
    if (texts !== tail.texts)
      await trx
        .updateTable('client_search_tails')
        .set({ texts })
        .where('company_id', '=', companyId)
        .execute();
    await trx
      .deleteFrom('client_search_entries')
      .where('company_id', '=', companyId)
      .where('client_id', '=', clientId)
      .execute();
  });

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
  place: number,
): Promise<void> => {
  const ofChunk = await trx
    .selectFrom('client_search_postings')
    .select(['gram', 'occurrences'])
    .where('company_id', '=', companyId)
    .where('chunk', '=', chunk)
    .forUpdate()
    .execute();
  for (const { gram, occurrences } of ofChunk) {
    const left = withoutPlace(occurrences, place);
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
