import { hash } from 'node:crypto';
import { tooManyAttempts } from '@causeway/proto';
import { transaction } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { countedEmail } from './same-email.ts';

/**
 * Delays between attempts to prove who one is, growing with each that failed, for the account and for the
 * address apart. Nobody is ever locked out for good: the longest wait is a quarter of an hour, so that guessing
 * gets a hundred tries a day, and a person who waits gets in.
 *
 * An attempt is counted before it is made and given back when it was right, so many at once gain nothing. Its
 * account need not exist: then all is the same, or the delays would tell which addresses are members.
 */
export interface Attempt {
  /** It was right: the account's count is forgotten, the address's goes back by this one. */
  succeeded(): Promise<void>;
  /** Neither right nor wrong: it does not count. */
  undecided(): Promise<void>;
}

/** Attempts before the first delay. Many people may share one address. */
const freeAttempts = { account: 5, address: 25 } as const;
const firstDelayMs = 1000;
const longestDelayMs = 15 * 60_000;
/** A count is forgotten after so long without an attempt. */
export const forgottenAfterMs = 24 * 3_600_000;

/** @throws Problem `too_many_attempts` while either has to wait */
export const beginAttempt = async (
  { db, now }: Pick<Access, 'db' | 'now'>,
  email: string,
  address: string,
): Promise<Attempt> => {
  const account = accountOf(email);
  const place = subjectOf('address', networkOf(address));
  // In one order for all, or two attempts could each wait for the other.
  const subjects = [
    { subject: account, free: freeAttempts.account },
    { subject: place, free: freeAttempts.address },
  ].toSorted((a, b) => Buffer.compare(a.subject, b.subject));

  const waitMs = await transaction(db, async (trx) => {
    const at = now();
    let wait = 0;
    const counted: { subject: Buffer; failures: number; free: number }[] = [];
    for (const { subject, free } of subjects) {
      await trx
        .insertInto('sign_in_delays')
        .values({ subject, failures: 0, last_attempt_utc: at, next_attempt_utc: at })
        .onDuplicateKeyUpdate((eb) => ({ failures: eb.ref('sign_in_delays.failures') }))
        .execute();
      const row = await trx
        .selectFrom('sign_in_delays')
        .select(['failures', 'last_attempt_utc', 'next_attempt_utc'])
        .where('subject', '=', subject)
        .forUpdate()
        .executeTakeFirstOrThrow();
      wait = Math.max(wait, row.next_attempt_utc.getTime() - at.getTime());
      const forgotten = at.getTime() - row.last_attempt_utc.getTime() > forgottenAfterMs;
      counted.push({ subject, failures: (forgotten ? 0 : row.failures) + 1, free });
    }
    if (wait > 0) return wait;
    for (const { subject, failures, free } of counted)
      await trx
        .updateTable('sign_in_delays')
        .set({
          failures,
          last_attempt_utc: at,
          next_attempt_utc: new Date(at.getTime() + delayMs(failures, free)),
        })
        .where('subject', '=', subject)
        .execute();
    return 0;
  });
  if (waitMs > 0) throw tooManyAttempts(Math.ceil(waitMs / 1000));

  const giveBack = async (subject: Buffer): Promise<void> => {
    await db
      .updateTable('sign_in_delays')
      .set((eb) => ({ failures: eb('failures', '-', 1), next_attempt_utc: now() }))
      .where('subject', '=', subject)
      .where('failures', '>', 0)
      .execute();
  };
  return {
    undecided: async () => {
      await giveBack(account);
      await giveBack(place);
    },
    succeeded: async () => {
      await forgetAccount({ db }, email);
      await giveBack(place);
    },
  };
};

/** The person has proven otherwise who they are: the account's count is forgotten. */
export const forgetAccount = async ({ db }: Pick<Access, 'db'>, email: string): Promise<void> => {
  await db.deleteFrom('sign_in_delays').where('subject', '=', accountOf(email)).execute();
};

/** @param failures with the one that is about to be made. */
export const delayMs = (failures: number, free: number): number =>
  failures < free ? 0 : Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(failures - free, 20));

/** One household has a whole /64 of IPv6 to come from. */
const networkOf = (address: string): string => {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  if (tail !== undefined) {
    const rest = tail.split(':').filter(Boolean);
    while (groups.length + rest.length < 8) groups.push('0');
    groups.push(...rest);
  }
  return groups.slice(0, 4).join(':');
};

const accountOf = (email: string): Buffer => subjectOf('account', countedEmail(email));

const subjectOf = (kind: 'account' | 'address', text: string): Buffer =>
  hash('sha256', `${kind} ${text}`, 'buffer');
