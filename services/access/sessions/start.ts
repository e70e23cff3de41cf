import { type Actor, sessionTokenHeader } from '@causeway/proto';
import { type Answer, json, transaction, writeAudit } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { sessionFacts } from './facts.ts';
import { hashToken, newSessionToken } from './token.ts';

/** More open at once than anybody has places to work at; the oldest ends. */
const maxSessionsPerMember = 50;

export interface NewSession {
  readonly companyId: number;
  readonly userId: number;
  readonly name: string;
  readonly actor: Actor;
  readonly requestId: string;
}

/**
 * Opens a session and answers with what its page has to know. Its token is random and new, whatever the browser
 * had before, and goes to the gateway in a header of the lane.
 */
export const startSession = async (
  access: Access,
  status: number,
  { companyId, userId, name, actor, requestId }: NewSession,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Answer> => {
  const { db, now, random } = access;
  const token = newSessionToken(random, access.sessionTokens);
  const at = now();
  const { address, userAgent } = actor;
  const sessionId = await transaction(db, async (trx) => {
    const { insertId } = await trx
      .insertInto('portal_sessions')
      .values({
        company_id: companyId,
        user_id: userId,
        token_hash: hashToken(token),
        created_utc: at,
        last_used_utc: at,
        address,
        user_agent: userAgent,
      })
      .executeTakeFirstOrThrow();
    const oldest = await trx
      .selectFrom('portal_sessions')
      .select('session_id')
      .where('company_id', '=', companyId)
      .where('user_id', '=', userId)
      .orderBy('session_id', 'desc')
      .offset(maxSessionsPerMember)
      .limit(100)
      .execute();
    if (oldest.length > 0)
      await trx
        .deleteFrom('portal_sessions')
        .where('company_id', '=', companyId)
        .where(
          'session_id',
          'in',
          oldest.map((row) => row.session_id),
        )
        .execute();
    await trx
      .updateTable('portal_users')
      .set({ last_sign_in_utc: at })
      .where('company_id', '=', companyId)
      .where('id', '=', userId)
      .execute();
    await writeAudit(trx, {
      companyId,
      by: { kind: 'user', id: userId, name, address, userAgent, requestId },
      action: 'session.started',
      target: { kind: 'session', id: Number(insertId), name },
      at,
    });
    return Number(insertId);
  });
  const facts = await sessionFacts(access, companyId, sessionId);
  return { ...json(status, { ...facts, ...more }), headers: { [sessionTokenHeader]: token } };
};
