import { type ActorUser, tooManyAttempts } from '@causeway/proto';
import { clockSlackMs, type Gate, transaction } from '@causeway/runtime';
import { sql } from 'kysely';
import type { Access } from '../context.ts';
import { choiceSubject, type Subject, sessionSubject, strangersSubjects } from './subjects.ts';

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
    // Others may have failed while this caller waited.
    refuseKnown(access, subjects);
    return work(await countAttempt(access, subjects));
  };
  return gate.run(key, deadlineMs, run, group);
};

/**
 * At the next sign-in, a chosen password reveals whether the address has the same one elsewhere, so each
 * choice is a guess (README.md). Only the company's own choices delay the next: members who are guessed at
 * can still change theirs.
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

/**
 * Each subject that an attempt counts for (`subjects.ts`) has a delay that grows with its failures, up to a
 * quarter of an hour, so nobody is locked out for good. An attempt is counted before it is made and given
 * back if it succeeds, so concurrent attempts gain nothing. Unknown accounts are treated alike, or the delays
 * would reveal the members.
 */
export interface Attempt {
  /** It succeeded: forgets the counts of these members alone and takes this attempt back from the others. */
  succeeded(userIds: readonly number[]): Promise<void>;
  /** It neither succeeded nor failed, so it does not count. */
  undecided(): Promise<void>;
}

const firstDelayMs = 1000;
const longestDelayMs = 15 * 60_000;
/** Counts are of one day, and their rows are deleted after this long without an attempt. */
export const keptForMs = 24 * 3_600_000;

type Counting = Pick<Access, 'db' | 'now' | 'refusals'>;

/** Refuses from memory, without a query. @throws Problem `too_many_attempts` */
const refuseKnown = ({ now, refusals }: Counting, subjects: readonly Subject[]): void => {
  refuse(
    refusals.waitMs(
      subjects.map(({ digest }) => digest),
      now(),
    ),
  );
};

/** An attempt that has to wait writes and locks nothing. @throws Problem `too_many_attempts` */
export const countAttempt = (access: Counting, subjects: readonly Subject[]): Promise<Attempt> =>
  count(access, subjects, refuseWaiting);

const noteAttempt = async (access: Counting, subjects: readonly Subject[]): Promise<void> => {
  await count(access, subjects, () => {});
};

const count = async (
  access: Counting,
  unsorted: readonly Subject[],
  check: typeof refuseWaiting,
): Promise<Attempt> => {
  const { db, now, refusals } = access;
  const at = now();
  // Every transaction locks them in the same order, to avoid deadlocks.
  const subjects = unsorted.toSorted((a, b) => Buffer.compare(a.digest, b.digest));
  const digests = subjects.map(({ digest }) => digest);
  const columns = ['subject', 'failures', 'next_attempt_utc'] as const;

  check(
    access,
    at,
    await db.selectFrom('sign_in_delays').select(columns).where('subject', 'in', digests).execute(),
  );
  const counted = await transaction(db, async (trx) => {
    await trx
      .insertInto('sign_in_delays')
      .values(
        digests.map((subject) => ({
          subject,
          failures: 0,
          last_attempt_utc: at,
          next_attempt_utc: atOnce(at),
        })),
      )
      .onDuplicateKeyUpdate((eb) => ({ failures: eb.ref('sign_in_delays.failures') }))
      .execute();
    const rows = await trx
      .selectFrom('sign_in_delays')
      .select(columns)
      .where('subject', 'in', digests)
      .forUpdate()
      .execute();
    check(access, at, rows);
    const counts = subjects.map(({ digest, free }) => {
      const row = rows.find(({ subject }) => subject.equals(digest))!;
      const failures = row.failures + 1;
      const delay = delayMs(failures, free);
      const next_attempt_utc = delay === 0 ? atOnce(at) : new Date(at.getTime() + delay);
      return { subject: digest, failures, last_attempt_utc: at, next_attempt_utc };
    });
    await trx
      .insertInto('sign_in_delays')
      .values(counts)
      .onDuplicateKeyUpdate({
        failures: sql`VALUES(failures)`,
        last_attempt_utc: at,
        next_attempt_utc: sql`VALUES(next_attempt_utc)`,
      })
      .execute();
    return counts;
  });
  for (const { subject, next_attempt_utc } of counted)
    if (next_attempt_utc > at) refusals.remember(subject, next_attempt_utc, at);

  return {
    undecided: () => giveBack(access, digests),
    succeeded: async (userIds) => {
      const isForgotten = ({ userId }: Subject) => userId !== undefined && userIds.includes(userId);
      const digestsOf = (some: readonly Subject[]) => some.map(({ digest }) => digest);
      await giveBack(access, digestsOf(subjects.filter((subject) => !isForgotten(subject))));
      await forget(access, digestsOf(subjects.filter(isForgotten)));
    },
  };
};

const forget = async ({ db, refusals }: Counting, digests: readonly Buffer[]): Promise<void> => {
  if (digests.length > 0) await db.deleteFrom('sign_in_delays').where('subject', 'in', digests).execute();
  for (const digest of digests) refusals.forget(digest);
};

/** Without a delay: earlier than the clock of each replica, which may be behind. */
const atOnce = (now: Date): Date => new Date(now.getTime() - 60_000);

/** @param failures including the attempt that is about to be made. */
export const delayMs = (failures: number, free: number): number =>
  failures < free ? 0 : Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(failures - free, 20));

const giveBack = async ({ db, now, refusals }: Counting, digests: readonly Buffer[]): Promise<void> => {
  if (digests.length > 0)
    await db
      .updateTable('sign_in_delays')
      .set((eb) => ({ failures: eb('failures', '-', 1), next_attempt_utc: atOnce(now()) }))
      .where('subject', 'in', digests)
      .where('failures', '>', 0)
      .execute();
  for (const digest of digests) refusals.forget(digest);
};

const refuseWaiting = (
  { refusals }: Counting,
  at: Date,
  rows: readonly { readonly subject: Buffer; readonly next_attempt_utc: Date }[],
): void => {
  let waitMs = 0;
  for (const { subject, next_attempt_utc } of rows) {
    const leftMs = next_attempt_utc.getTime() - at.getTime();
    // A longer wait is of a clock that went back since.
    if (leftMs <= 0 || leftMs > longestDelayMs + clockSlackMs) continue;
    refusals.remember(subject, next_attempt_utc, at);
    waitMs = Math.max(waitMs, leftMs);
  }
  refuse(waitMs);
};

const refuse = (waitMs: number): void => {
  if (waitMs > 0) throw tooManyAttempts(Math.ceil(waitMs / 1000));
};
