import { conflict, invalidField } from '@causeway/proto';
import type { Access } from '../context.ts';
import { atSession, attempt, type Prover } from './attempt.ts';
import { confirmPassword } from './confirm-password.ts';
import type { PersonRow } from './person.ts';
import { type GivenFactor, takeFactor } from './second-factor.ts';

/**
 * Asks a signed-in member for the password and a code of the second factor before that factor changes.
 * @throws Problem `conflict` if it is off, `invalid_request` naming the field, or as `attempt`
 */
export const confirmFactor = async (
  access: Access,
  call: Parameters<typeof confirmPassword>[1],
  given: GivenFactor & { readonly password: string },
): Promise<void> => {
  const person = await confirmPassword(access, call, 'password', given.password);
  if (person.totp_enabled === 0) throw conflict('two-factor sign-in is off');
  const prover = atSession(access, call.companyId, call.user, 'factor');
  await requireFactor(access, prover, call.deadlineMs, person, given);
};

/** @throws Problem `invalid_request` naming the field, or as `attempt` */
export const requireFactor = (
  access: Access,
  prover: Prover,
  deadlineMs: number,
  person: PersonRow,
  given: GivenFactor,
): Promise<void> => {
  if (given.totp === undefined && given.recoveryCode === undefined)
    throw invalidField('totp', 'totp is required');
  const field = given.recoveryCode === undefined ? 'totp' : 'recoveryCode';
  return attempt(access, prover, deadlineMs, async ({ succeeded }) => {
    if (!(await takeFactor(access, person, given))) throw invalidField(field, 'the code is wrong');
    await succeeded([person.id]);
  });
};
