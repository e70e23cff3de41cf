import { contract, problem } from '@causeway/proto';
import { type Answer, handler, json, type OperationCall } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { attempt, signingIn } from './attempt.ts';
import type { Attempt } from './delays.ts';
import { membershipsOf } from './memberships.ts';
import type { PersonRow } from './person.ts';
import { takeFactor } from './second-factor.ts';
import { startSession } from './start.ts';

/**
 * Checks the password, then the second factor if there is one. The page sends everything again with the code, so no
 * half-done sign-in is stored. It opens each membership of the address that has this password (README.md); an unknown
 * address gets the same answer after the same work.
 */
export const signIn = (access: Access) =>
  handler(contract.signIn, (call) =>
    attempt(access, signingIn(access, call.body.email, call.actor), call.deadlineMs, (counted) =>
      admit(access, call, counted),
    ),
  );

const admit = async (
  access: Access,
  { body, actor, requestId }: OperationCall<typeof contract.signIn>,
  { succeeded, undecided }: Attempt,
): Promise<Answer> => {
  const { log, passwords } = access;
  const { email, password, totp, recoveryCode } = body;
  const memberships = await membershipsOf(access, email);
  const right = await passwords.matches(
    password,
    memberships.map((one) => one.password_hash),
  );
  const accepted = memberships.filter((_, at) => right[at]);
  if (accepted.length === 0) {
    const userIds = memberships.map(({ id }) => id);
    log.warn({ requestId, address: actor.address, userIds }, 'sign-in refused');
    throw problem('wrong_credentials');
  }
  const codeGiven = totp !== undefined || recoveryCode !== undefined;
  const open: PersonRow[] = [];
  const closed: PersonRow[] = [];
  let codeTaken = false;
  for (const person of accepted) {
    const taken = person.totp_enabled === 1 && codeGiven && (await takeFactor(access, person, body));
    codeTaken ||= taken;
    (taken || person.totp_enabled === 0 ? open : closed).push(person);
  }
  if (codeGiven && closed.length > 0 && !codeTaken) {
    const userIds = closed.map(({ id }) => id);
    log.warn({ requestId, address: actor.address, userIds }, 'second factor refused');
    throw problem('wrong_code');
  }
  const [first, ...others] = open;
  if (!first) {
    await undecided();
    return json(200, { mfaRequired: true });
  }
  await succeeded();
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

const memberOf = ({ company_id, id }: PersonRow) => ({ companyId: company_id, userId: id });
