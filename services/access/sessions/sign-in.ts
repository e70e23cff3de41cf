import {
  type Actor,
  byStranger,
  contract,
  deviceHeader,
  networkOf,
  Problem,
  problem,
  sessionTokenHeader,
  siteOf,
} from '@causeway/proto';
import { type Answer, handler, json, type OperationCall, type Trx, transaction } from '@causeway/runtime';
import type { Insertable } from 'kysely';
import { audit, byPerson, noteRefused } from '../audit.ts';
import type { Access } from '../context.ts';
import type { AccessTables, SessionState } from '../schema.ts';
import { type Attempt, attempt, countAttempt, memberKey } from './attempts.ts';
import { hasFactor } from './factors.ts';
import { membershipsOf, type PersonRow, updateMember } from './person.ts';
import { proveFactor } from './second-factor.ts';
import { type SessionFacts, sessionFacts } from './sessions.ts';
import {
  accountSubject,
  type DeviceMembership,
  deviceSubject,
  knownDeviceOf,
  strangersSubjects,
} from './subjects.ts';
import { hashToken, newSessionToken, newToken } from './token.ts';

/**
 * The page sends everything again with the code, so no half-done sign-in is stored. It opens each membership
 * of the address that has this password (README.md); an unknown address gets the same answer after the same
 * work.
 *
 * Strangers neither delay nor crowd out a known device. While strangers have to wait, a device opens only
 * memberships for which it is known: at all others, it guesses no better than a stranger.
 */
export const signIn = (access: Access) =>
  handler(contract.signIn, (call) => {
    const { devices, gates, now } = access;
    const { address, device } = call.actor;
    const { email } = call.body;
    const knownDevices = devices.recognise(device, email);
    const [first] = knownDevices;
    if (!first) {
      const subjects = strangersSubjects(email, address, now());
      const [key, group] = [networkOf(address), siteOf(address)];
      const stranger = { subjects, gate: gates.strangers, key, group };
      return attempt(access, stranger, call.deadlineMs, async (counted) =>
        admit(access, call, await membershipsOf(access, email), [counted]),
      ).catch((error: unknown) => {
        if (error instanceof Problem && error.code === 'service_unavailable')
          return signInFromReserve(access, call, error);
        throw error;
      });
    }
    const subjects = knownDevices.map((one) => deviceSubject(one, now()));
    const member = { subjects, gate: gates.members, key: memberKey(first.userId) };
    return attempt(access, member, call.deadlineMs, async (counted) => {
      const asStranger = await countAttempt(
        access,
        strangersSubjects(email, address, now(), 'known device'),
      ).catch(delayOrThrow);
      const memberships = await membershipsOf(access, email);
      if (!(asStranger instanceof Problem)) return admit(access, call, memberships, [counted, asStranger]);
      const own = memberships.filter((person) => knownDeviceOf(knownDevices, person));
      if (own.length === 0) throw asStranger;
      return admit(access, call, own, [counted]);
    });
  });

/** The attempt counts for the account alone: there, nobody notices one failure more. */
const signInFromReserve = async (
  access: Access,
  call: OperationCall<typeof contract.signIn>,
  refusal: Problem,
): Promise<Answer> => {
  const { email } = call.body;
  const answer = await access.reserve.attempt(email, networkOf(call.actor.address), async (deadlineMs) => {
    const counted = await countAttempt(access, [accountSubject(email, access.now())]);
    return admit(access, { ...call, deadlineMs }, await membershipsOf(access, email), [counted]);
  });
  if (answer === null) throw refusal;
  return answer;
};

const admit = async (
  access: Access,
  { body, actor, requestId, deadlineMs }: OperationCall<typeof contract.signIn>,
  memberships: readonly PersonRow[],
  attempts: readonly Attempt[],
): Promise<Answer> => {
  const { log, passwords } = access;
  const { password, totp, recoveryCode } = body;
  const noteStrangers = (whose: readonly PersonRow[], action: 'password.refused' | 'code.refused') => {
    for (const { company_id, id, email } of whose) {
      const author = { companyId: company_id, by: byStranger({ actor, requestId }), at: access.now() };
      noteRefused(access, author, action, ['member', id, email]);
    }
  };
  const right = await passwords.matches(
    password,
    memberships.map((one) => one.password_hash),
  );
  if (performance.now() >= deadlineMs) {
    for (const { undecided } of attempts) await undecided();
    throw problem('timeout');
  }
  const accepted = memberships.filter((_, at) => right[at]);
  if (accepted.length === 0) {
    const userIds = memberships.map(({ id }) => id);
    log.warn({ requestId, address: actor.address, userIds }, 'sign-in refused');
    noteStrangers(memberships, 'password.refused');
    throw problem('wrong_credentials');
  }
  const over = await closedAmong(access, accepted.map(companyOf));
  const present = accepted.filter((person) => !over.has(companyOf(person)));
  if (present.length === 0) {
    for (const { undecided } of attempts) await undecided();
    throw problem('company_closed');
  }
  const codeGiven = totp !== undefined || recoveryCode !== undefined;
  const open: PersonRow[] = [];
  const closed: PersonRow[] = [];
  const refusals: Problem[] = [];
  let codeTaken = false;
  for (const person of present) {
    const taken =
      hasFactor(person) &&
      codeGiven &&
      (await proveFactor(access, person, body, { actor, requestId }).catch(delayOrThrow));
    if (taken instanceof Problem) refusals.push(taken);
    codeTaken ||= taken === true;
    (taken === true || !hasFactor(person) ? open : closed).push(person);
  }
  if (codeGiven && closed.length > 0 && !codeTaken) {
    const userIds = closed.map(({ id }) => id);
    log.warn({ requestId, address: actor.address, userIds }, 'second factor refused');
    noteStrangers(closed, 'code.refused');
    throw refusals[0] ?? problem('wrong_code');
  }
  const [first, ...others] = open;
  if (!first) {
    for (const { undecided } of attempts) await undecided();
    return json(200, {
      mfaRequired: true,
      totp: closed.some(({ totp_enabled }) => totp_enabled === 1),
      passkey: closed.some(({ passkeys }) => passkeys > 0),
    });
  }
  for (const { succeeded } of attempts) await succeeded(open.map(({ id }) => id));
  return startSession(
    access,
    200,
    {
      ...memberOf(first),
      by: hasFactor(first) ? `password and ${totp === undefined ? 'recovery code' : 'code'}` : 'password',
      name: first.name || first.email,
      email: first.email,
      actor,
      requestId,
      others: [
        ...others.map((person) => ({ ...memberOf(person), state: 'ready' as const })),
        ...closed.map((person) => ({ ...memberOf(person), state: 'code' as const })),
      ],
    },
    { mfaRequired: false },
  );
};

const delayOrThrow = (error: unknown): Problem => {
  if (error instanceof Problem && error.code === 'too_many_attempts') return error;
  throw error;
};

const companyOf = ({ company_id }: PersonRow): number => company_id;

const closedAmong = async ({ db }: Access, ids: readonly number[]): Promise<ReadonlySet<number>> => {
  const rows = await db
    .selectFrom('companies')
    .select('company_id')
    .where('company_id', 'in', ids)
    .where('closed_utc', 'is not', null)
    .execute();
  return new Set(rows.map(({ company_id }) => company_id));
};

const memberOf = ({ company_id, id, device_epoch }: PersonRow) => ({
  companyId: company_id,
  userId: id,
  epoch: device_epoch,
});

/** More than anyone needs; a further sign-in ends the oldest session. */
const maxSessionsPerMember = 50;

/** How a session began, as the audit log has it. */
type Beginning =
  | 'password'
  | 'password and code'
  | 'password and recovery code'
  | 'passkey'
  | 'invitation'
  | 'another company of the same sign-in';

interface NewSession extends DeviceMembership {
  readonly by: Beginning;
  readonly name: string;
  readonly email: string;
  readonly actor: Actor;
  readonly requestId: string;
  readonly others?: readonly OtherMembership[];
}

interface OtherMembership extends DeviceMembership {
  readonly state: SessionState;
}

/** The browser becomes a known device of the memberships that are open or ready. */
export const startSession = async (
  access: Access,
  status: number,
  { companyId, userId, epoch, by, name, email, actor, requestId, others = [] }: NewSession,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Answer> => {
  const { db, now, random } = access;
  if ((await closedAmong(access, [companyId])).size > 0) throw problem('company_closed');
  const token = newSessionToken(random, access.sessionTokens);
  const { address, userAgent } = actor;
  const at = now();
  const sign_in = Buffer.from(random(16));
  const shared = { created_utc: at, last_used_utc: at, address, user_agent: userAgent, sign_in };
  for (const { companyId: company_id, userId: user_id, state } of others)
    await transaction(db, (trx) =>
      addSession(trx, newToken(random), { ...shared, company_id, user_id, state }),
    );
  const sessionId = await transaction(db, async (trx) => {
    const session = { ...shared, company_id: companyId, user_id: userId, state: 'open' } as const;
    const id = await addSession(trx, token, session);
    const entry = { companyId, userId, epoch, by, sessionId: id, name, actor, requestId, at };
    await noteEntry(access, trx, entry);
    return id;
  });
  const facts = await sessionFacts(access, companyId, sessionId);
  const answer = withToken(status, { ...facts, ...more }, token);
  return withDevice(access, answer, actor, email, [
    { companyId, userId, epoch },
    ...others.filter(({ state }) => state === 'ready'),
  ]);
};

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

export const withToken = (status: number, facts: SessionFacts, token: string): Answer => ({
  ...json(status, facts),
  headers: { [sessionTokenHeader]: token },
});

export const noteEntry = async (
  { devices }: Pick<Access, 'devices'>,
  trx: Trx<AccessTables>,
  { companyId, userId, epoch, by: beginning, sessionId, name, actor, requestId, at }: Entry,
): Promise<void> => {
  const { numUpdatedRows } = await updateMember(trx, companyId, userId)
    .set({ last_sign_in_utc: at })
    .where('device_epoch', '=', epoch)
    .executeTakeFirst();
  // All sessions of the member have just ended, and this session began before.
  if (numUpdatedRows === 0n) throw problem('signed_out');
  const by = byPerson(userId, name, actor, requestId);
  const device =
    devices.recogniseMember(actor.device, { companyId, userId })?.epoch === epoch ? 'known' : 'new';
  await audit(trx, { companyId, by, at }, 'session.started', ['session', sessionId, name], {
    after: { by: beginning, device },
  });
};

interface Entry extends Omit<NewSession, 'others' | 'email'> {
  readonly sessionId: number;
  readonly at: Date;
}

const addSession = async (
  trx: Trx<AccessTables>,
  token: string,
  row: Omit<Insertable<AccessTables['portal_sessions']>, 'token_hash'>,
): Promise<number> => {
  const { insertId } = await trx
    .insertInto('portal_sessions')
    .values({ ...row, token_hash: hashToken(token) })
    .executeTakeFirstOrThrow();
  const oldest = await trx
    .selectFrom('portal_sessions')
    .select('session_id')
    .where('company_id', '=', row.company_id)
    .where('user_id', '=', row.user_id)
    .orderBy('session_id', 'desc')
    .offset(maxSessionsPerMember)
    .limit(100)
    .execute();
  const ids = oldest.map(({ session_id }) => session_id);
  if (ids.length > 0)
    await trx
      .deleteFrom('portal_sessions')
      .where('company_id', '=', row.company_id)
      .where('session_id', 'in', ids)
      .execute();
  return Number(insertId);
};
