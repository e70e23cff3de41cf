import { tooManyAttempts } from '@causeway/proto';
import { transaction } from '@causeway/runtime';
import { sql } from 'kysely';
import type { Access } from '../context.ts';
import type { Subject } from './subjects.ts';

/**
 * Delays between attempts to prove who one is, growing with each that failed, for each subject that it counts for
 * (`subjects.ts`). The longest is a quarter of an hour, so nobody is locked out for good.
 *
 * An attempt is counted before it is made and given back when it was right, so many at once gain nothing. Its
 * account need not exist: then all is the same, or the delays would tell which addresses are members.
 */
export interface Attempt {
  /** It was right: counts of the member's own are forgotten, others go back by this one. */
  succeeded(): Promise<void>;
  /** Neither right nor wrong: it does not count. */
  undecided(): Promise<void>;
}

const firstDelayMs = 1000;
const longestDelayMs = 15 * 60_000;
/** A count is forgotten after so long without an attempt. */
export const forgottenAfterMs = 24 * 3_600_000;

type Counting = Pick<Access, 'db' | 'now' | 'refusals'>;

/** Refuses from memory, without a query. @throws Problem `too_many_attempts` */
export const refuseKnown = ({ now, refusals }: Counting, subjects: readonly Subject[]): void => {
  refuse(
    refusals.waitMs(
      subjects.map(({ digest }) => digest),
      now(),
    ),
  );
};

/**
 * Counts an attempt. One that has to wait writes nothing and locks nothing.
 * @throws Problem `too_many_attempts` while one of the subjects has to wait
 */
export const countAttempt = (access: Counting, subjects: readonly Subject[]): Promise<Attempt> =>
  count(access, subjects, refuseWaiting);

/**
 * Counts an attempt that is made in any case. Whoever chooses a password for one membership of an address can learn by a
 * sign-in whether another membership has the same, so each choice is a guess (README.md).
 */
export const noteAttempt = async (access: Counting, subjects: readonly Subject[]): Promise<void> => {
  await count(access, subjects, () => {});
};

const count = async (
  access: Counting,
  unsorted: readonly Subject[],
  check: typeof refuseWaiting,
): Promise<Attempt> => {
  const { db, now, refusals } = access;
  const at = now();
  // Locked in one order by all, or two attempts could each wait for the other.
  const subjects = unsorted.toSorted((a, b) => Buffer.compare(a.digest, b.digest));
  const digests = subjects.map(({ digest }) => digest);
  const columns = ['subject', 'failures', 'last_attempt_utc', 'next_attempt_utc'] as const;

  check(
    access,
    at,
    await db.selectFrom('sign_in_delays').select(columns).where('subject', 'in', digests).execute(),
  );
  const counted = await transaction(db, async (trx) => {
    await trx
      .insertInto('sign_in_delays')
      .values(
        digests.map((subject) => ({ subject, failures: 0, last_attempt_utc: at, next_attempt_utc: at })),
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
      const forgotten = at.getTime() - row.last_attempt_utc.getTime() > forgottenAfterMs;
      const failures = (forgotten ? 0 : row.failures) + 1;
      const next_attempt_utc = new Date(at.getTime() + delayMs(failures, free));
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
    succeeded: async () => {
      await giveBack(
        access,
        subjects.filter(({ forgotten }) => !forgotten).map(({ digest }) => digest),
      );
      await forgetAttempts(
        access,
        subjects.filter(({ forgotten }) => forgotten),
      );
    },
  };
};

/** The member has proven otherwise who they are. */
export const forgetAttempts = async (
  { db, refusals }: Counting,
  subjects: readonly Subject[],
): Promise<void> => {
  const digests = subjects.map(({ digest }) => digest);
  if (digests.length > 0) await db.deleteFrom('sign_in_delays').where('subject', 'in', digests).execute();
  for (const digest of digests) refusals.forget(digest);
};

/** @param failures with the one that is about to be made. */
export const delayMs = (failures: number, free: number): number =>
  failures < free ? 0 : Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(failures - free, 20));

const giveBack = async ({ db, now, refusals }: Counting, digests: readonly Buffer[]): Promise<void> => {
  if (digests.length > 0)
    await db
      .updateTable('sign_in_delays')
      .set((eb) => ({ failures: eb('failures', '-', 1), next_attempt_utc: now() }))
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
    if (next_attempt_utc <= at) continue;
    refusals.remember(subject, next_attempt_utc, at);
    waitMs = Math.max(waitMs, next_attempt_utc.getTime() - at.getTime());
  }
  refuse(waitMs);
};

const refuse = (waitMs: number): void => {
  if (waitMs > 0) throw tooManyAttempts(Math.ceil(waitMs / 1000));
};
