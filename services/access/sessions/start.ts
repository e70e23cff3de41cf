import { type Actor, deviceHeader, problem, sessionTokenHeader } from '@causeway/proto';
import { type Answer, json, type Trx, transaction } from '@causeway/runtime';
import { writeAudit } from '../audit.ts';
import type { Access } from '../context.ts';
import type { AccessTables, SessionState } from '../schema.ts';
import type { DeviceMembership } from './devices.ts';
import { type SessionFacts, sessionFacts } from './facts.ts';
import { hashToken, newSessionToken, newToken } from './token.ts';

/** More than anyone needs; a further sign-in ends the oldest session. */
const maxSessionsPerMember = 50;

export interface NewSession extends DeviceMembership {
  readonly name: string;
  readonly email: string;
  readonly actor: Actor;
  readonly requestId: string;
  /** The other memberships that the member can switch to. */
  readonly others?: readonly OtherMembership[];
}

interface OtherMembership extends DeviceMembership {
  readonly state: SessionState;
}

/**
 * Opens a session and answers with what its page needs to know. The token is always random and new, and goes to the
 * gateway in a header of the lane. The browser becomes a known device of the memberships
 * that are open or ready.
 */
export const startSession = async (
  access: Access,
  status: number,
  { companyId, userId, epoch, name, email, actor, requestId, others = [] }: NewSession,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Answer> => {
  const { db, now, random } = access;
  const token = newSessionToken(random, access.sessionTokens);
  const { address, userAgent } = actor;
  const shared = { created_utc: now(), address, user_agent: userAgent, sign_in: Buffer.from(random(16)) };
  for (const other of others)
    await transaction(db, (trx) => addSession(trx, { ...shared, ...other, token: newToken(random) }));
  const sessionId = await transaction(db, async (trx) => {
    const id = await addSession(trx, { ...shared, companyId, userId, token, state: 'open' });
    await noteEntry(trx, {
      companyId,
      userId,
      epoch,
      sessionId: id,
      name,
      actor,
      requestId,
      at: shared.created_utc,
    });
    return id;
  });
  const facts = await sessionFacts(access, companyId, sessionId);
  const answer = withToken(status, { ...facts, ...more }, token);
  return withDevice(access, answer, actor, email, [
    { companyId, userId, epoch },
    ...others.filter(({ state }) => state === 'ready'),
  ]);
};

/** An answer that makes the browser a known device of these memberships. */
export const withDevice = (
  { devices }: Pick<Access, 'devices'>,
  answer: Answer,
  actor: Actor,
  email: string,
  memberships: readonly DeviceMembership[],
): Answer => {
  const device = devices.remember(actor.device, email, memberships);
  return { ...answer, headers: { ...answer.headers, [deviceHeader]: device } };
};

/** An answer that gives the browser its session token. */
export const withToken = (status: number, facts: SessionFacts, token: string): Answer => ({
  ...json(status, facts),
  headers: { [sessionTokenHeader]: token },
});

/** Records that the member has entered the company: the last sign-in and an audit entry. */
export const noteEntry = async (
  trx: Trx<AccessTables>,
  { companyId, userId, epoch, sessionId, name, actor, requestId, at }: Entry,
): Promise<void> => {
  const { numUpdatedRows } = await trx
    .updateTable('portal_users')
    .set({ last_sign_in_utc: at })
    .where('company_id', '=', companyId)
    .where('id', '=', userId)
    .where('device_epoch', '=', epoch)
    .executeTakeFirst();
  // All sessions of the member have just ended, and this one began before.
  if (numUpdatedRows === 0n) throw problem('signed_out');
  const { address, userAgent } = actor;
  await writeAudit(trx, {
    companyId,
    by: { kind: 'user', id: userId, name, address, userAgent, requestId },
    action: 'session.started',
    target: { kind: 'session', id: sessionId, name },
    at,
  });
};

interface Entry extends Omit<NewSession, 'others' | 'email'> {
  readonly sessionId: number;
  readonly at: Date;
}

interface SessionRow {
  readonly companyId: number;
  readonly userId: number;
  readonly token: string;
  readonly state: SessionState;
  readonly sign_in: Buffer;
  readonly created_utc: Date;
  readonly address: string;
  readonly user_agent: string;
}

const addSession = async (
  trx: Trx<AccessTables>,
  { companyId, userId, token, state, sign_in, created_utc, address, user_agent }: SessionRow,
): Promise<number> => {
  const { insertId } = await trx
    .insertInto('portal_sessions')
    .values({
      company_id: companyId,
      user_id: userId,
      token_hash: hashToken(token),
      created_utc,
      last_used_utc: created_utc,
      address,
      user_agent,
      sign_in,
      state,
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
  return Number(insertId);
};
