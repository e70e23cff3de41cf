import type { Database } from '@causeway/runtime';
import type { Tables } from '../tables.ts';

/** A dispatcher's row, as the others read it. */
export interface KnownDispatcher {
  readonly dispatcher_id: number;
  readonly instance: string;
  readonly beats: number;
  readonly given_up_utc: Date | null;
}

/** @returns the ID that leases name; no other process ever gets it. */
export const register = async (db: Database<Tables>, instance: string): Promise<number> => {
  const { insertId } = await db.insertInto('dispatchers').values({ instance }).executeTakeFirstOrThrow();
  return Number(insertId);
};

/** @returns false if the others have given it up. */
export const beat = async (db: Database<Tables>, id: number): Promise<boolean> => {
  const { numUpdatedRows } = await db
    .updateTable('dispatchers')
    .set((eb) => ({ beats: eb('beats', '+', 1) }))
    .where('dispatcher_id', '=', id)
    .where('given_up_utc', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
};

export const readDispatchers = (db: Database<Tables>): Promise<readonly KnownDispatcher[]> =>
  db.selectFrom('dispatchers').select(['dispatcher_id', 'instance', 'beats', 'given_up_utc']).execute();

/** From its commit on, the dispatcher's leases are no longer its own. @returns false if it has beaten since. */
export const giveUp = async (
  db: Database<Tables>,
  { dispatcher_id, beats }: KnownDispatcher,
  now: Date,
): Promise<boolean> => {
  const { numUpdatedRows } = await db
    .updateTable('dispatchers')
    .set({ given_up_utc: now })
    .where('dispatcher_id', '=', dispatcher_id)
    .where('beats', '=', beats)
    .where('given_up_utc', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
};

/** Call it when no delivery is leased to the dispatcher any more. */
export const forget = async (db: Database<Tables>, id: number): Promise<void> => {
  await db.deleteFrom('dispatchers').where('dispatcher_id', '=', id).execute();
};
