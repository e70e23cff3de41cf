import type { Access } from '../context.ts';

/** Ends a key in the database, once: a key that was revoked before keeps its time and its version. */
export const deactivate = async (
  { db, now }: Access,
  { company_id, id }: { readonly company_id: number; readonly id: number },
): Promise<void> => {
  await db
    .updateTable('api_keys')
    .set((eb) => ({ is_active: 0, revoked_utc: now(), version: eb('version', '+', 1) }))
    .where('company_id', '=', company_id)
    .where('id', '=', id)
    .where('is_active', '=', 1)
    .execute();
};
