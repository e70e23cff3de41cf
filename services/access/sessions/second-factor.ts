import { type Actor, type AnswerTo, conflict, contract, invalidField } from '@causeway/proto';
import {
  acrossTenants,
  handler,
  json,
  openSecret,
  sealedWith,
  sealSecret,
  transaction,
} from '@causeway/runtime';
import { type Author, audit, byPerson, noteRefused } from '../audit.ts';
import type { Access } from '../context.ts';
import { atSession, attempt, countAttempt, type Prover } from './attempts.ts';
import { changeSecurity } from './end.ts';
import { newTotpSecret, replaceRecoveryCodes, takeRecoveryCode, totpStep, totpUri } from './factor-codes.ts';
import { dropCodesOfLastFactor, hasFactor, lockFactors, removeTotp } from './factors.ts';
import { type PersonRow, readPerson, updateMember } from './person.ts';
import { factorSubject, knownDeviceOf } from './subjects.ts';

/** The secret takes effect once a first code proves that an app has it. */
export const startTotp = (access: Access) =>
  handler(contract.startTotp, async (call) => {
    const { companyId, user } = call;
    const person = await readPerson(access.db, companyId, user);
    if (person.totp_enabled === 1) throw conflict('two-factor sign-in is on already; switch it off first');
    const secret = newTotpSecret(access.random);
    await updateMember(access.db, companyId, user.id)
      .set({ totp_secret: sealSecret(access.portal.keyRing, companyId, secret), totp_step: 0 })
      .where('totp_enabled', '=', 0)
      .execute();
    return json(200, { secret, uri: totpUri('Causeway', user.email, secret) });
  });

export const confirmTotp = (access: Access) =>
  handler(contract.confirmTotp, async (call) => {
    const { companyId, user, body } = call;
    const person = await readPerson(access.db, companyId, user);
    if (person.totp_enabled === 1) throw conflict('two-factor sign-in is on already');
    if (person.totp_secret === null) throw conflict('ask for a new secret first');
    await attempt(
      access,
      atSession(access, companyId, user, 'factor'),
      call.deadlineMs,
      async ({ succeeded }) => {
        if (!(await takeTotp(access, person, body.code)))
          throw invalidField('code', 'must_agree', 'the code is wrong');
        await succeeded([]);
      },
    );
    const recoveryCodes = await changeSecurity(access, call, 'totp.enabled', async (trx) => {
      const { numUpdatedRows } = await updateMember(trx, companyId, user.id)
        .set({ totp_enabled: 1 })
        // Unless the secret was replaced or removed meanwhile.
        .where('totp_secret', '=', person.totp_secret)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw conflict('ask for a new secret first');
      return replaceRecoveryCodes(trx, { companyId, userId: user.id }, access.random);
    });
    return json(200, { recoveryCodes });
  });

export const disableTotp = (access: Access) =>
  handler(contract.disableTotp, async (call) => {
    const { companyId, user } = call;
    await changeSecurity(access, call, 'totp.disabled', async (trx) => {
      const { totp_enabled, passkeys } = await lockFactors(trx, { companyId, userId: user.id });
      if (totp_enabled === 0) throw conflict('two-factor sign-in is off');
      await removeTotp(trx, { companyId, userId: user.id });
      await dropCodesOfLastFactor(trx, { companyId, userId: user.id }, { totp_enabled: 0, passkeys });
    });
    return { status: 204, body: null };
  });

export const regenerateRecoveryCodes = (access: Access) =>
  handler(contract.regenerateRecoveryCodes, async (call) => {
    const { companyId, user } = call;
    const recoveryCodes = await changeSecurity(access, call, 'recovery_codes.renewed', async (trx) => {
      const factors = await lockFactors(trx, { companyId, userId: user.id });
      if (!hasFactor(factors)) throw conflict('set up a second factor first');
      return replaceRecoveryCodes(trx, { companyId, userId: user.id }, access.random);
    });
    return json(200, { recoveryCodes });
  });

/** Members per call: some tens of milliseconds. */
const batch = 200;

/** Skips factors that the first key has sealed already, so the command may be interrupted and repeated. */
export const reencryptFactors = (access: Access) =>
  handler(contract.reencryptFactors, async ({ body: { after = 0 } }) => {
    const { db, portal } = access;
    const { keyRing } = portal;
    const rows = await acrossTenants(db, 'an operator reseals the second factors of all companies')
      .selectFrom('portal_users')
      .select(['company_id', 'id', 'totp_secret'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(batch)
      .execute();
    let [checked, resealed, unopened] = [0, 0, 0];
    for (const { company_id, id, totp_secret } of rows) {
      if (totp_secret === null) continue;
      checked++;
      if (sealedWith(totp_secret) === keyRing.sealsWith) continue;
      let secret: string;
      try {
        secret = openSecret(keyRing, company_id, totp_secret);
      } catch {
        unopened++;
        continue;
      }
      resealed++;
      await updateMember(db, company_id, id)
        .set({ totp_secret: sealSecret(keyRing, company_id, secret) })
        // Unless the factor was replaced meanwhile.
        .where('totp_secret', '=', totp_secret)
        .execute();
    }
    const next = rows.length < batch ? null : rows.at(-1)!.id;
    return json<AnswerTo<'reencryptFactors'>>(200, {
      key: keyRing.sealsWith,
      checked,
      resealed,
      unopened,
      next,
    });
  });

/** @throws Problem `invalid_request` naming the field, or as `attempt` */
export const requireFactor = (
  access: Access,
  prover: Prover,
  call: FactorCall & { readonly deadlineMs: number },
  person: PersonRow,
  factor: GivenFactor,
): Promise<void> => {
  if (factor.totp === undefined && factor.recoveryCode === undefined)
    throw invalidField('totp', 'required', 'totp is required');
  const field = factor.recoveryCode === undefined ? 'totp' : 'recoveryCode';
  return attempt(access, prover, call.deadlineMs, async ({ succeeded }) => {
    if (!(await takeFactor(access, person, factor, call))) {
      noteRefused(access, authorFor(access, person, call), 'code.refused', [
        'member',
        person.id,
        person.email,
      ]);
      throw invalidField(field, 'must_agree', 'the code is wrong');
    }
    await succeeded([person.id]);
  });
};

/** Neither: not sent yet. */
interface GivenFactor {
  readonly totp?: string | undefined;
  readonly recoveryCode?: string | undefined;
}

/** A known device has a count of its own, all others share one. @throws Problem `too_many_attempts` */
export const proveFactor = async (
  access: Access,
  person: PersonRow,
  factor: GivenFactor,
  call: FactorCall,
): Promise<boolean> => {
  if (knownDeviceOf(access.devices.recognise(call.actor.device, person.email), person))
    return takeFactor(access, person, factor, call);
  const whose = { companyId: person.company_id, userId: person.id };
  const { succeeded } = await countAttempt(access, [factorSubject(whose, access.now())]);
  const taken = await takeFactor(access, person, factor, call);
  if (taken) await succeeded([]);
  return taken;
};

/** @returns whether the code was valid */
const takeFactor = async (
  access: Access,
  person: PersonRow,
  { totp, recoveryCode }: GivenFactor,
  call: FactorCall,
): Promise<boolean> => {
  if (totp !== undefined) return takeTotp(access, person, totp);
  if (recoveryCode === undefined) return false;
  const whose = { companyId: person.company_id, userId: person.id };
  return transaction(access.db, async (trx) => {
    const taken = await takeRecoveryCode(trx, whose, recoveryCode);
    if (taken) {
      const target = ['member', person.id, person.email] as const;
      await audit(trx, authorFor(access, person, call), 'recovery_code.used', target);
    }
    return taken;
  });
};

interface FactorCall {
  readonly actor: Actor;
  readonly requestId: string;
}

const authorFor = ({ now }: Access, person: PersonRow, { actor, requestId }: FactorCall): Author => ({
  companyId: person.company_id,
  by: byPerson(person.id, person.name || person.email, actor, requestId),
  at: now(),
});

/** Each code works once: its step must be later than the last one used. */
const takeTotp = async (
  { db, now, portal }: Pick<Access, 'db' | 'now' | 'portal'>,
  { company_id, id, totp_secret }: PersonRow,
  code: string,
): Promise<boolean> => {
  if (totp_secret === null) return false;
  const step = totpStep(openSecret(portal.keyRing, company_id, totp_secret), code, now());
  if (step === null) return false;
  const { numUpdatedRows } = await updateMember(db, company_id, id)
    .set({ totp_step: step })
    .where('totp_step', '<', step)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
};
