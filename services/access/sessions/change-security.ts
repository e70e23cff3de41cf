import { type Actor, type ActorUser, type AuditAction, byMember } from '@causeway/proto';
import { type Trx, transaction } from '@causeway/runtime';
import { writeAudit } from '../audit.ts';
import type { Access } from '../context.ts';
import type { AccessTables } from '../schema.ts';
import { endSessions } from './end.ts';

/**
 * Changes how a member signs in. One transaction makes the change, ends the member's other sessions (an attacker may
 * hold one) and writes the audit entry.
 */
export const changeSecurity = <Result>(
  access: Access,
  call: {
    readonly companyId: number;
    readonly user: ActorUser;
    readonly actor: Actor;
    readonly requestId: string;
  },
  action: AuditAction,
  change: (trx: Trx<AccessTables>) => Promise<Result>,
): Promise<Result> =>
  transaction(access.db, async (trx) => {
    const { companyId, user } = call;
    const result = await change(trx);
    await endSessions(access, trx, { companyId, userId: user.id, except: user.sessionId });
    await writeAudit(trx, {
      companyId,
      by: byMember(call),
      action,
      target: { kind: 'member', id: user.id, name: user.email },
      at: access.now(),
    });
    return result;
  });
