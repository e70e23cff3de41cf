import type { ActorUser } from '@causeway/proto';
import type { Access } from '../context.ts';
import { type Attempt, countAttempt, noteAttempt, refuseKnown } from './delays.ts';
import type { Gate } from './gate.ts';
import { choiceSubject, type Subject, sessionSubject, strangersSubjects } from './subjects.ts';

/** Somebody who tries to prove their identity: the subjects that a failure counts for, and the gate to pass. */
export interface Prover {
  readonly subjects: readonly Subject[];
  readonly gate: Gate;
  readonly key: string;
  readonly group?: string;
}

/** A member with an open session who is asked for the password or a code again. */
export const atSession = (
  { gates, now }: Access,
  companyId: number,
  user: ActorUser,
  proof: 'password' | 'factor',
): Prover => ({
  subjects: [sessionSubject(proof, { companyId, userId: user.id }, now())],
  gate: gates.members,
  key: memberKey(user.id),
});

/** Callers of the members' gate are told apart by their membership: anybody can have many devices and sessions. */
export const memberKey = (userId: number): string => `member ${userId}`;

/**
 * Makes one attempt. An attempt that has to wait costs no query, no hash and no place in the queue.
 * @throws Problem `too_many_attempts` while one of the subjects has to wait, or as `Gate.run`
 */
export const attempt = async <Result>(
  access: Access,
  { subjects, gate, key, group }: Prover,
  deadlineMs: number,
  work: (attempt: Attempt) => Promise<Result>,
): Promise<Result> => {
  refuseKnown(access, subjects);
  const run = async (): Promise<Result> => {
    // Others may have failed while this one waited.
    refuseKnown(access, subjects);
    return work(await countAttempt(access, subjects));
  };
  return gate.run(key, deadlineMs, run, group);
};

/**
 * Counts a password that is chosen for an address in a company. At the next sign-in it reveals whether the address has
 * the same one elsewhere, so each choice is a guess (README.md). Only the company's own choices delay the next one:
 * members who are guessed at can still change their password.
 * @throws Problem `too_many_attempts`
 */
export const countChosenPassword = async (
  access: Access,
  companyId: number,
  email: string,
  address: string,
): Promise<void> => {
  const at = access.now();
  await countAttempt(access, [choiceSubject(companyId, email, at)]);
  await noteAttempt(access, strangersSubjects(email, address, at));
};
