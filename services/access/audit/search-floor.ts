import type { Kysely } from 'kysely';
import type { AccessTables } from '../schema.ts';

/** Entries that one page of a search looks through. No index finds a part of a name, so every one of them is read. */
export const searchedEntries = 20_000;

/** The id of the oldest entry that one page of a search looks through; null if the page reaches the oldest of all. */
export const searchFloor = async (
  db: Kysely<AccessTables>,
  companyId: number,
  before: number | undefined,
): Promise<number | null> => {
  let looked = db
    .selectFrom('audit_log')
    .select('audit_id')
    .where('company_id', '=', companyId)
    .orderBy('audit_id', 'desc')
    .offset(searchedEntries)
    .limit(1);
  if (before !== undefined) looked = looked.where('audit_id', '<', before);
  const row = await looked.executeTakeFirst();
  return row ? row.audit_id + 1 : null;
};
