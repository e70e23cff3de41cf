import { type ActorUser, invalidField } from '@causeway/proto';
import type { Access } from '../context.ts';
import { atSession, attempt } from './attempt.ts';
import { type PersonRow, readPerson } from './person.ts';

/**
 * Asks a signed-in member for the password again. Sessions of a member have their own delays: somebody at an unattended
 * session cannot guess freely, and guesses made elsewhere do not delay the member.
 * @throws Problem `invalid_request` naming `field`, or as `attempt`
 */
export const confirmPassword = (
  access: Access,
  call: { readonly companyId: number; readonly user: ActorUser; readonly deadlineMs: number },
  field: string,
  password: string,
): Promise<PersonRow> =>
  attempt(
    access,
    atSession(access, call.companyId, call.user, 'password'),
    call.deadlineMs,
    async ({ succeeded }) => {
      const person = await readPerson(access.db, call.companyId, call.user);
      if (!(await access.passwords.verify(password, person.password_hash)))
        throw invalidField(field, 'the password is wrong');
      await succeeded([person.id]);
      return person;
    },
  );
