import type { AuditSource } from '@causeway/proto';
import { type Trx, transaction } from '@causeway/runtime';
import { writeAudit } from '../audit/write-audit.ts';
import type { Access } from '../context.ts';
import type { AccessTables } from '../schema.ts';

export interface KeyEnd {
  readonly companyId: number;
  readonly id: number;
  readonly by: AuditSource;
}

/** Deactivates a key in the database. A key that is revoked already keeps its time and version. */
export const deactivate = ({ db, now }: Access, end: KeyEnd): Promise<void> =>
  transaction(db, (trx) => deactivateIn(trx, { ...end, at: now() }));

/** The same, as part of a larger transaction. */
export const deactivateIn = async (
  trx: Trx<AccessTables>,
  { companyId, id, by, at }: KeyEnd & { readonly at: Date },
): Promise<void> => {
  const { numUpdatedRows } = await trx
    .updateTable('api_keys')
    .set((eb) => ({ is_active: 0, revoked_utc: at, version: eb('version', '+', 1) }))
    .where('company_id', '=', companyId)
    .where('id', '=', id)
    .where('is_active', '=', 1)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return;
  const { name } = await trx
    .selectFrom('api_keys')
    .select('name')
    .where('company_id', '=', companyId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await writeAudit(trx, { companyId, by, action: 'key.revoked', target: { kind: 'key', id, name }, at });
};
