import { type Actor, networkOf } from '@causeway/proto';
import type { Access } from '../context.ts';
import { type Attempt, countAttempt, refuseKnown } from './delays.ts';
import type { Gate } from './gate.ts';
import { deviceSubjects, type Subject, sessionSubjects, strangersSubjects } from './subjects.ts';

/** Somebody who tries to prove their identity: the subjects that a failure counts for, and the gate to pass. */
export interface Prover {
  readonly subjects: readonly Subject[];
  readonly gate: Gate;
  readonly key: string;
}

/**
 * Somebody without a session. From a known device they count as a member, so strangers neither delay them nor crowd
 * them out.
 */
export const signingIn = (
  { devices, gates, now }: Access,
  email: string,
  { address, device }: Actor,
): Prover => {
  const id = devices.recognise(device, email);
  return id === undefined
    ? { subjects: strangersSubjects(email, address, now()), gate: gates.strangers, key: networkOf(address) }
    : { subjects: deviceSubjects(email, id), gate: gates.members, key: `device ${id}` };
};

/** A member with an open session who is asked for the password or a code again. */
export const atSession = ({ gates }: Access, sessionId: number): Prover => ({
  subjects: sessionSubjects(sessionId),
  gate: gates.members,
  key: `session ${sessionId}`,
});

/**
 * Makes one attempt. An attempt that has to wait costs no query, no hash and no place in the queue.
 * @throws Problem `too_many_attempts` while one of the subjects has to wait, or as `Gate.run`
 */
export const attempt = async <Result>(
  access: Access,
  { subjects, gate, key }: Prover,
  deadlineMs: number,
  work: (attempt: Attempt) => Promise<Result>,
): Promise<Result> => {
  refuseKnown(access, subjects);
  return gate.run(key, deadlineMs, async () => {
    // Others may have failed while this one waited.
    refuseKnown(access, subjects);
    return work(await countAttempt(access, subjects));
  });
};
