import { conflict, problem } from '@causeway/proto';
import type { Trx } from '@causeway/runtime';
import { selectCompany } from '../rows.ts';
import type { AccessTables } from '../schema.ts';
import { deleteRecoveryCodes } from './factor-codes.ts';
import { selectMember, updateMember } from './person.ts';
import type { Membership } from './subjects.ts';

export const countPasskeys = (trx: Trx<AccessTables>, companyId: number, userId: number, passkeys: number) =>
  updateMember(trx, companyId, userId).set({ passkeys }).execute();

interface Factors {
  readonly totp_enabled: number;
  readonly passkeys: number;
}

export const hasFactor = ({ totp_enabled, passkeys }: Factors): boolean => totp_enabled === 1 || passkeys > 0;

/** Locked, so that two changes at once cannot both see another factor left. */
export const lockFactors = (trx: Trx<AccessTables>, { companyId, userId }: Membership) =>
  selectMember(trx, companyId, userId)
    .select(['totp_enabled', 'passkeys'])
    .forUpdate()
    .executeTakeFirstOrThrow(() => problem('signed_out'));

/** @throws Problem `conflict` if the company requires a factor and none would be left */
export const dropCodesOfLastFactor = async (
  trx: Trx<AccessTables>,
  whose: Membership,
  left: Factors,
): Promise<void> => {
  if (hasFactor(left)) return;
  const { require_factor } = await selectCompany(trx, whose.companyId)
    .select('require_factor')
    .forShare()
    .executeTakeFirstOrThrow();
  if (require_factor === 1)
    throw conflict('your company requires a second factor; add another one before you remove the last');
  await deleteRecoveryCodes(trx, whose);
};

export const removeTotp = (trx: Trx<AccessTables>, { companyId, userId }: Membership) =>
  updateMember(trx, companyId, userId).set({ totp_enabled: 0, totp_secret: null, totp_step: 0 }).execute();

/** All of them: the app, the recovery codes and the passkeys. */
export const removeFactors = async (trx: Trx<AccessTables>, whose: Membership): Promise<void> => {
  await removeTotp(trx, whose);
  await deleteRecoveryCodes(trx, whose);
  await trx
    .deleteFrom('portal_passkeys')
    .where('company_id', '=', whose.companyId)
    .where('user_id', '=', whose.userId)
    .execute();
  await countPasskeys(trx, whose.companyId, whose.userId, 0);
};
