import { openSecret, portalContract, problem } from '@causeway/proto';
import {
  type Answer,
  acrossTenants,
  json,
  type PortalCall,
  portalHandler,
  transaction,
} from '@causeway/runtime';
import type { Access } from '../context.ts';
import { attempt, stranger } from './attempt.ts';
import type { Attempt } from './delays.ts';
import { type PersonRow, personColumns } from './person.ts';
import { takeRecoveryCode } from './recovery-codes.ts';
import { isSameEmail } from './same-email.ts';
import { startSession } from './start.ts';
import { totpStep } from './totp.ts';

/**
 * Password, then the second factor where there is one; the page sends all of it again with the code, so nothing
 * is kept of a sign-in that is half done. An address that is nobody's gets the same answer after the same work.
 */
export const signIn = (access: Access) =>
  portalHandler(portalContract.signIn, (call) =>
    attempt(access, stranger(access, call.body.email, call.actor.address), call.deadlineMs, (counted) =>
      admit(access, call, counted),
    ),
  );

const admit = async (
  access: Access,
  { body, actor, requestId }: PortalCall<typeof portalContract.signIn>,
  { succeeded, undecided }: Attempt,
): Promise<Answer> => {
  const { db, log, passwords } = access;
  const { email, password, totp, recoveryCode } = body;
  const found = await acrossTenants(db, 'whoever signs in is known by the address alone')
    .selectFrom('portal_users')
    .select(personColumns)
    .where('email', '=', email)
    .executeTakeFirst();
  const person = found && isSameEmail(found.email, email) ? found : undefined;
  const right = await passwords.verify(password, person?.password_hash ?? null);
  if (!person || !right) {
    log.warn({ requestId, address: actor.address, userId: person?.id }, 'sign-in refused');
    throw problem('wrong_credentials');
  }
  if (person.totp_enabled === 1) {
    if (totp === undefined && recoveryCode === undefined) {
      await undecided();
      return json(200, { mfaRequired: true });
    }
    const admitted =
      totp === undefined
        ? await takeCode(access, person, recoveryCode!)
        : await takeTotp(access, person, totp);
    if (!admitted) {
      log.warn({ requestId, address: actor.address, userId: person.id }, 'second factor refused');
      throw problem('wrong_code');
    }
  }
  await succeeded();
  const name = person.name || person.email;
  return startSession(
    access,
    200,
    { companyId: person.company_id, userId: person.id, name, actor, requestId },
    { mfaRequired: false },
  );
};

const takeCode = ({ db }: Access, person: PersonRow, code: string): Promise<boolean> =>
  transaction(db, (trx) => takeRecoveryCode(trx, { companyId: person.company_id, userId: person.id }, code));

/** A code is taken once: its step must be later than the last one taken. */
export const takeTotp = async (
  { db, now, portal }: Pick<Access, 'db' | 'now' | 'portal'>,
  { company_id, id, totp_secret }: PersonRow,
  code: string,
): Promise<boolean> => {
  if (totp_secret === null) return false;
  const step = totpStep(openSecret(portal.keyRing, company_id, totp_secret), code, now());
  if (step === null) return false;
  const { numUpdatedRows } = await db
    .updateTable('portal_users')
    .set({ totp_step: step })
    .where('company_id', '=', company_id)
    .where('id', '=', id)
    .where('totp_step', '<', step)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
};
