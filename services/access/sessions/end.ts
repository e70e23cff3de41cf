import type { AuditAction, AuditEntry } from '@causeway/proto';
import { type Trx, transaction } from '@causeway/runtime';
import { audit, authorOf, type MemberCall } from '../audit.ts';
import type { Access } from '../context.ts';
import type { AccessTables } from '../schema.ts';
import type { Membership } from './subjects.ts';

interface Ending extends Membership {
  readonly only?: number;
  /** A session that stays open. Without `only` and `except`, all sessions end. */
  readonly except?: number;
}

/** Gateways resolve the session of each request, so the commit ends all access. @returns how many sessions ended. */
export const endSessions = async (
  trx: Trx<AccessTables>,
  { companyId, userId, only, except }: Ending,
): Promise<number> => {
  const rows = await trx
    .selectFrom('portal_sessions')
    .select('session_id')
    .where('company_id', '=', companyId)
    .where('user_id', '=', userId)
    .$if(only !== undefined, (query) => query.where('session_id', '=', only!))
    .$if(except !== undefined, (query) => query.where('session_id', '!=', except!))
    .forUpdate()
    .execute();
  if (rows.length === 0) return 0;
  const ids = rows.map((row) => row.session_id);
  await trx
    .deleteFrom('portal_sessions')
    .where('company_id', '=', companyId)
    .where('session_id', 'in', ids)
    .execute();
  return ids.length;
};

/** One transaction: the change, the end of the other sessions (an attacker may hold one), the audit entry. */
export const changeSecurity = <Result>(
  access: Access,
  call: MemberCall,
  action: AuditAction,
  change: (trx: Trx<AccessTables>) => Promise<Result>,
  values?: Pick<AuditEntry, 'before' | 'after'>,
): Promise<Result> =>
  transaction(access.db, async (trx) => {
    const { companyId, user } = call;
    const result = await change(trx);
    await endSessions(trx, { companyId, userId: user.id, except: user.sessionId });
    await audit(trx, authorOf(access, call), action, ['member', user.id, user.email], values);
    return result;
  });
