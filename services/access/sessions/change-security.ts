import type { Actor, ActorUser, AuditAction } from '@causeway/proto';
import { auditSource, type Trx, transaction, writeAudit } from '@causeway/runtime';
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
      by: auditSource(call),
      action,
      target: { kind: 'member', id: user.id, name: user.email },
      at: access.now(),
    });
    return result;
  });
