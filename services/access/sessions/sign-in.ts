import { contract, networkOf, Problem, problem, siteOf } from '@causeway/proto';
import { type Answer, handler, json, type OperationCall } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { attempt, memberKey } from './attempt.ts';
import { type Attempt, countAttempt } from './delays.ts';
import { knownDeviceOf } from './devices.ts';
import { membershipsOf } from './memberships.ts';
import type { PersonRow } from './person.ts';
import { proveFactor } from './second-factor.ts';
import { startSession } from './start.ts';
import { accountSubject, deviceSubject, strangersSubjects } from './subjects.ts';

/**
 * Checks the password, then the second factor if there is one. The page sends everything again with the code, so no
 * half-done sign-in is stored. It opens each membership of the address that has this password (README.md); an unknown
 * address gets the same answer after the same work.
 *
 * Strangers neither delay nor crowd out a known device, and a known device guesses no better than a stranger at the
 * memberships for which it is not known: while strangers have to wait, it can open only those for which it is.
 */
export const signIn = (access: Access) =>
  handler(contract.signIn, (call) => {
    const { devices, gates, now } = access;
    const { address, device } = call.actor;
    const { email } = call.body;
    const known = devices.recognise(device, email);
    const [first] = known;
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
    const subjects = known.map((one) => deviceSubject(one, now()));
    const member = { subjects, gate: gates.members, key: memberKey(first.userId) };
    return attempt(access, member, call.deadlineMs, async (counted) => {
      const asStranger = await countAttempt(
        access,
        strangersSubjects(email, address, now(), 'known device'),
      ).catch(waiting);
      const memberships = await membershipsOf(access, email);
      if (!(asStranger instanceof Problem)) return admit(access, call, memberships, [counted, asStranger]);
      const own = memberships.filter((person) => knownDeviceOf(known, person));
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
    throw problem('wrong_credentials');
  }
  const codeGiven = totp !== undefined || recoveryCode !== undefined;
  const open: PersonRow[] = [];
  const closed: PersonRow[] = [];
  const refusals: Problem[] = [];
  let codeTaken = false;
  for (const person of accepted) {
    const taken =
      person.totp_enabled === 1 &&
      codeGiven &&
      (await proveFactor(access, person, body, actor).catch(waiting));
    if (taken instanceof Problem) refusals.push(taken);
    codeTaken ||= taken === true;
    (taken === true || person.totp_enabled === 0 ? open : closed).push(person);
  }
  if (codeGiven && closed.length > 0 && !codeTaken) {
    const userIds = closed.map(({ id }) => id);
    log.warn({ requestId, address: actor.address, userIds }, 'second factor refused');
    throw refusals[0] ?? problem('wrong_code');
  }
  const [first, ...others] = open;
  if (!first) {
    for (const { undecided } of attempts) await undecided();
    return json(200, { mfaRequired: true });
  }
  for (const { succeeded } of attempts) await succeeded(open.map(({ id }) => id));
  return startSession(
    access,
    200,
    {
      ...memberOf(first),
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

/** Turns the refusal of an attempt that has to wait into a value. */
const waiting = (error: unknown): Problem => {
  if (error instanceof Problem && error.code === 'too_many_attempts') return error;
  throw error;
};

const memberOf = ({ company_id, id, device_epoch }: PersonRow) => ({
  companyId: company_id,
  userId: id,
  epoch: device_epoch,
});
