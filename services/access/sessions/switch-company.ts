import { contract, notFound } from '@causeway/proto';
import { handler, json, transaction } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { updateSession } from '../rows.ts';
import { memberKey } from './attempts.ts';
import { personColumns, selectMember } from './person.ts';
import { requireFactor } from './second-factor.ts';
import { sessionFacts } from './sessions.ts';
import { noteEntry, withDevice, withToken } from './sign-in.ts';
import { deviceSubject, factorSubject, knownDeviceOf } from './subjects.ts';
import { hashToken, newSessionToken, newToken } from './token.ts';

/** A company that the sign-in did not open is not found. The current session closes until the return. */
export const switchCompany = (access: Access) =>
  handler(contract.switchCompany, async (call) => {
    const { db, now, portal, random } = access;
    const { companyId, user, actor, body, requestId } = call;
    if (body.companyId === companyId) return json(200, await sessionFacts(access, companyId, user.sessionId));
    const membership = await db
      .selectFrom('portal_sessions')
      .select('sign_in')
      .where('company_id', '=', companyId)
      .where('session_id', '=', user.sessionId)
      .executeTakeFirst();
    const other = membership?.sign_in && (await findOther(access, body.companyId, membership.sign_in));
    if (!other) throw notFound('company');
    if (other.state === 'code') {
      const at = now();
      const whose = { companyId: other.company_id, userId: other.user_id };
      const known = knownDeviceOf(access.devices.recognise(actor.device, other.email), other);
      const subjects = [known ? deviceSubject(known, at) : factorSubject(whose, at)];
      const prover = { subjects, gate: access.gates.members, key: memberKey(user.id) };
      await requireFactor(access, prover, call, other, body);
    }
    const token = newSessionToken(random, access.sessionTokens);
    const at = now();
    await transaction(db, async (trx) => {
      const { numUpdatedRows } = await updateSession(trx, other.company_id, other.session_id)
        .set({ token_hash: hashToken(token), state: 'open', last_used_utc: at })
        .where('created_utc', '>', new Date(at.getTime() - portal.sessionTimeoutMs))
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw notFound('company');
      await noteEntry(access, trx, {
        companyId: other.company_id,
        userId: other.user_id,
        epoch: other.device_epoch,
        by: 'another company of the same sign-in',
        sessionId: other.session_id,
        name: other.name || other.email,
        actor,
        requestId,
        at,
      });
    });
    await transaction(db, async (trx) => {
      await updateSession(trx, companyId, user.sessionId)
        .set({ token_hash: hashToken(newToken(random)), state: 'ready' })
        .execute();
    });
    const answer = withToken(200, await sessionFacts(access, other.company_id, other.session_id), token);
    return withDevice(access, answer, actor, other.email, [
      { companyId: other.company_id, userId: other.user_id, epoch: other.device_epoch },
    ]);
  });

const findOther = async ({ db }: Access, companyId: number, signIn: Buffer) => {
  const session = await db
    .selectFrom('portal_sessions')
    .select(['session_id', 'user_id', 'state'])
    .where('company_id', '=', companyId)
    .where('sign_in', '=', signIn)
    .executeTakeFirst();
  if (!session) return null;
  const person = await selectMember(db, companyId, session.user_id).select(personColumns).executeTakeFirst();
  return person ? { ...person, ...session } : null;
};
