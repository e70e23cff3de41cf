import { setTimeout as sleep } from 'node:timers/promises';
import { acrossTenants, createGate, type Database } from '@causeway/runtime';
import type { AccessTables } from '../schema.ts';
import { accountSubject, countedEmail } from './subjects.ts';

/**
 * Some hashes for sign-ins that the strangers' queue has no room for, if the address has a membership and nobody has
 * guessed at it today. An address that is not tried and a wrong password get the same answer after the same time, so a
 * flood does not reveal which addresses have memberships.
 */
export interface Reserve {
  /** @param work gets its deadline. @returns its result; if there is none, null after a fixed time. */
  attempt<Result>(
    email: string,
    key: string,
    work: (deadlineMs: number) => Promise<Result>,
  ): Promise<Result | null>;
}

interface ReserveOptions {
  readonly db: Database<AccessTables>;
  readonly now: () => Date;
}

/** Long enough for a hash on a busy machine, and short enough that gateways hold few requests of a flood. */
const answerAfterMs = 1000;
const maxWaiting = 1000;

export const createReserve = (options: ReserveOptions): Reserve => {
  const gate = createGate({ atOnce: 1, maxPerKey: 2, maxWaiting: 16 });
  let waiting: { readonly email: string; readonly tell: (eligible: boolean) => void }[] = [];
  let asking = false;

  /** Questions that arrive while others are being asked share two queries. */
  const ask = async (): Promise<void> => {
    if (asking) return;
    asking = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const eligible = await eligibleAmong(
        options,
        batch.map(({ email }) => email),
      ).catch(() => new Set());
      for (const { email, tell } of batch) tell(eligible.has(email));
    }
    asking = false;
  };
  const isEligible = (email: string): Promise<boolean> =>
    new Promise((tell) => {
      if (waiting.length >= maxWaiting) return tell(false);
      waiting.push({ email: countedEmail(email), tell });
      void ask();
    });

  return {
    attempt: async (email, key, work) => {
      const deadlineMs = performance.now() + answerAfterMs;
      const over = sleep(answerAfterMs).then(() => null);
      const tried = isEligible(email).then((eligible) =>
        eligible ? gate.run(key, deadlineMs, () => work(deadlineMs)) : over,
      );
      return Promise.race([tried.catch(() => over), over]);
    },
  };
};

const eligibleAmong = async (
  { db, now }: ReserveOptions,
  emails: readonly string[],
): Promise<Set<string>> => {
  const digests = new Map(emails.map((email) => [email, accountSubject(email, now()).digest]));
  const guessed = await db
    .selectFrom('sign_in_delays')
    .select('subject')
    .where('subject', 'in', [...digests.values()])
    .where('failures', '>', 0)
    .execute();
  const rows = await acrossTenants(db, 'a sign-in finds members by their address alone')
    .selectFrom('portal_users')
    .select('email')
    .where('email', 'in', [...digests.keys()])
    .execute();
  const members = new Set(rows.map(({ email }) => countedEmail(email)));
  return new Set(
    [...digests]
      .filter(
        ([email, digest]) => members.has(email) && !guessed.some(({ subject }) => subject.equals(digest)),
      )
      .map(([email]) => email),
  );
};
