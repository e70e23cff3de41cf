import type { ActorUser } from '@causeway/proto';
import { problem } from '@causeway/proto';
import type { Kysely } from 'kysely';
import type { AccessTables } from '../schema.ts';

export const personColumns = [
  'company_id',
  'id',
  'email',
  'name',
  'role',
  'password_hash',
  'totp_secret',
  'totp_enabled',
  'totp_step',
  'device_epoch',
] as const;

/** A signed-in member's own row. @throws Problem `signed_out` if they have just been removed */
export const readPerson = async (db: Kysely<AccessTables>, companyId: number, user: ActorUser) => {
  const row = await db
    .selectFrom('portal_users')
    .select(personColumns)
    .where('company_id', '=', companyId)
    .where('id', '=', user.id)
    .executeTakeFirst();
  if (!row) throw problem('signed_out');
  return row;
};

export type PersonRow = Awaited<ReturnType<typeof readPerson>>;
