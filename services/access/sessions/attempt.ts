import { type Actor, networkOf } from '@causeway/proto';
import type { Access } from '../context.ts';
import { type Attempt, countAttempt, refuseKnown } from './delays.ts';
import type { Gate } from './gate.ts';
import { deviceSubjects, type Subject, sessionSubjects, strangersSubjects } from './subjects.ts';

/** Whoever attempts to prove who they are: what a failure counts for, and the gate they come in through. */
export interface Prover {
  readonly subjects: readonly Subject[];
  readonly gate: Gate;
  readonly key: string;
}

/** Somebody without a session. From a known device they are no stranger: strangers neither delay nor crowd them out. */
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

/** A member at an open session, who is asked for the password or a code again. */
export const atSession = ({ gates }: Access, sessionId: number): Prover => ({
  subjects: sessionSubjects(sessionId),
  gate: gates.members,
  key: `session ${sessionId}`,
});

/**
 * Makes one attempt. One that has to wait costs nothing but this call: no query, no hash, no place in the queue.
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
    // While it waited others may have failed.
    refuseKnown(access, subjects);
    return work(await countAttempt(access, subjects));
  });
};
