import { type Actor, openSecret } from '@causeway/proto';
import { type Trx, transaction } from '@causeway/runtime';
import type { Access } from '../context.ts';
import type { AccessTables } from '../schema.ts';
import { countAttempt } from './delays.ts';
import { knownDeviceOf } from './devices.ts';
import type { PersonRow } from './person.ts';
import { deleteRecoveryCodes, takeRecoveryCode } from './recovery-codes.ts';
import { factorSubject, type Membership } from './subjects.ts';
import { totpStep } from './totp.ts';

/** The proof of a second factor: a code of the app or a recovery code. Neither: not sent yet. */
export interface GivenFactor {
  readonly totp?: string | undefined;
  readonly recoveryCode?: string | undefined;
}

/**
 * Checks a code at a sign-in. The sign-in itself counts for a known device of the member; all others share a count.
 * @throws Problem `too_many_attempts`
 */
export const proveFactor = async (
  access: Access,
  person: PersonRow,
  given: GivenFactor,
  { device }: Actor,
): Promise<boolean> => {
  if (knownDeviceOf(access.devices.recognise(device, person.email), person))
    return takeFactor(access, person, given);
  const whose = { companyId: person.company_id, userId: person.id };
  const { succeeded } = await countAttempt(access, [factorSubject(whose, access.now())]);
  const taken = await takeFactor(access, person, given);
  if (taken) await succeeded([]);
  return taken;
};

/** Uses up a code of a membership's second factor. @returns whether it was valid */
export const takeFactor = async (
  access: Access,
  person: PersonRow,
  { totp, recoveryCode }: GivenFactor,
): Promise<boolean> => {
  if (totp !== undefined) return takeTotp(access, person, totp);
  if (recoveryCode === undefined) return false;
  const whose = { companyId: person.company_id, userId: person.id };
  return transaction(access.db, (trx) => takeRecoveryCode(trx, whose, recoveryCode));
};

/** Each code works once: its step must be later than the last one used. */
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

/** Removes the app's secret and the recovery codes: the password alone signs in. */
export const removeFactor = async (
  trx: Trx<AccessTables>,
  { companyId, userId }: Membership,
): Promise<void> => {
  await trx
    .updateTable('portal_users')
    .set({ totp_enabled: 0, totp_secret: null, totp_step: 0 })
    .where('company_id', '=', companyId)
    .where('id', '=', userId)
    .execute();
  await deleteRecoveryCodes(trx, { companyId, userId });
};
