import { type ActorUser, invalidField, problem, type Role, roleAllows, roleRequired } from '@causeway/proto';
import { acrossTenants, type Trx } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import { authorOf, type MemberCall, noteRefused } from '../audit.ts';
import type { Access } from '../context.ts';
import { saltOf } from '../passwords/password.ts';
import type { AccessTables } from '../schema.ts';
import { atSession, attempt } from './attempts.ts';
import { isSameEmail } from './subjects.ts';

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
  'passkeys',
  'device_epoch',
] as const;

/** @throws Problem `signed_out` if the member has just been removed */
export const readPerson = (db: Kysely<AccessTables>, companyId: number, user: ActorUser) =>
  selectMember(db, companyId, user.id)
    .select(personColumns)
    .executeTakeFirstOrThrow(() => problem('signed_out'));

export const updateMember = (db: Kysely<AccessTables>, companyId: number, userId: number) =>
  db.updateTable('portal_users').where('company_id', '=', companyId).where('id', '=', userId);

export const selectMember = (db: Kysely<AccessTables>, companyId: number, userId: number) =>
  db.selectFrom('portal_users').where('company_id', '=', companyId).where('id', '=', userId);

export type PersonRow = Awaited<ReturnType<typeof readPerson>>;

/** More companies than one person works for. */
const maxMemberships = 50;

/** The most recent sign-in first. */
export const membershipsOf = async ({ db }: Pick<Access, 'db'>, email: string): Promise<PersonRow[]> => {
  const rows = await acrossTenants(db, 'a sign-in finds members by their address alone')
    .selectFrom('portal_users as person')
    .select(personColumns.map((column) => `person.${column}` as const))
    .where('person.email', '=', email)
    .orderBy('person.last_sign_in_utc', 'desc')
    .orderBy('person.id')
    .limit(maxMemberships)
    .execute();
  return rows.filter((row) => isSameEmail(row.email, email));
};

/** Memberships of an address share a salt: a sign-in takes one derivation, and its time reveals nothing. */
export const hashForAddress = async (access: Access, email: string, password: string): Promise<string> => {
  const memberships = await membershipsOf(access, email);
  const [first] = memberships.toSorted((a, b) => a.id - b.id);
  return access.passwords.hash(password, first && saltOf(first.password_hash));
};

/**
 * Asks a signed-in member for the password again. Sessions of a member have their own delays: somebody at an unattended
 * session cannot guess freely, and guesses made elsewhere do not delay the member.
 * @throws Problem `invalid_request` naming `field`, or as `attempt`
 */
export const confirmPassword = (
  access: Access,
  call: MemberCall,
  field: string,
  password: string,
): Promise<PersonRow> =>
  attempt(
    access,
    atSession(access, call.companyId, call.user, 'password'),
    call.deadlineMs,
    async ({ succeeded }) => {
      const person = await readPerson(access.db, call.companyId, call.user);
      if (!(await access.passwords.verify(password, person.password_hash))) {
        noteRefused(access, authorOf(access, call), 'password.refused', ['member', person.id, person.email]);
        throw invalidField(field, 'must_agree', 'the password is wrong');
      }
      await succeeded([person.id]);
      return person;
    },
  );

/**
 * The gateway admitted the call with the role at its beginning: a member who is just being removed could
 * otherwise leave an invitation, a link or a key behind. The row stays locked, so a removal waits and finds
 * what was created.
 * @throws Problem `signed_out`, `role_required`
 */
export const requireRoleStill = async (
  trx: Trx<AccessTables>,
  companyId: number,
  userId: number,
  least: Role,
): Promise<void> => {
  const row = await selectMember(trx, companyId, userId).select('role').forShare().executeTakeFirst();
  if (!row) throw problem('signed_out');
  if (!roleAllows(row.role, least)) throw roleRequired(least);
};
