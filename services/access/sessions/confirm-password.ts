import { type ActorUser, invalidField } from '@causeway/proto';
import type { Access } from '../context.ts';
import { beginAttempt } from './delays.ts';
import { type PersonRow, readPerson } from './person.ts';

/**
 * Asks a signed-in member for the password again, under the same delays as signing in: whoever sits at an open
 * session cannot guess it there either.
 * @throws Problem `invalid_request` naming `field`, or `too_many_attempts`
 */
export const confirmPassword = async (
  access: Access,
  call: {
    readonly companyId: number;
    readonly user: ActorUser;
    readonly actor: { readonly address: string };
  },
  field: string,
  password: string,
): Promise<PersonRow> => {
  const attempt = await beginAttempt(access, call.user.email, call.actor.address);
  const person = await readPerson(access.db, call.companyId, call.user);
  if (!(await access.passwords.verify(password, person.password_hash)))
    throw invalidField(field, 'the password is not right');
  await attempt.succeeded();
  return person;
};
