import { acrossTenants } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { saltOf } from '../passwords/password.ts';
import { type PersonRow, personColumns } from './person.ts';
import { isSameEmail } from './same-email.ts';

/** More companies than one person works for. */
const maxMemberships = 50;

/** The memberships of an address in all companies, the most recent sign-in first. */
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

/**
 * Hashes a password chosen for a membership of an address. All memberships of an address share a salt, so that a
 * sign-in takes one derivation however many there are, and its time reveals nothing (sessions/README.md).
 */
export const hashForAddress = async (access: Access, email: string, password: string): Promise<string> => {
  const memberships = await membershipsOf(access, email);
  const [first] = memberships.toSorted((a, b) => a.id - b.id);
  return access.passwords.hash(password, first && saltOf(first.password_hash));
};
