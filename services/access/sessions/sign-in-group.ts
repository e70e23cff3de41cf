import { acrossTenants } from '@causeway/runtime';
import type { Access } from '../context.ts';

/** The sessions of one sign-in, one per open company that it opens, oldest company first. */
export const sessionsOfSignIn = ({ db, now, portal }: Access, signIn: Buffer) =>
  acrossTenants(db, 'one sign-in opens several companies')
    .selectFrom('portal_sessions as session')
    .innerJoin('portal_users as person', (join) =>
      join.onRef('person.company_id', '=', 'session.company_id').onRef('person.id', '=', 'session.user_id'),
    )
    .innerJoin('companies as company', 'company.company_id', 'session.company_id')
    .select([
      'session.company_id',
      'session.session_id',
      'session.state',
      'person.role',
      'company.name as company_name',
    ])
    .where('session.sign_in', '=', signIn)
    .where('session.created_utc', '>', new Date(now().getTime() - portal.sessionTimeoutMs))
    .orderBy('session.company_id')
    .execute();
