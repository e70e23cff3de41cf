import { setTimeout as sleep } from 'node:timers/promises';
import { problem } from '@causeway/proto';
import { acrossTenants } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { accountSubject, countedEmail } from './subjects.ts';

/**
 * Limits how many callers work at a time, and so the database connections and hashes of their work; the
 * others wait in a bounded queue. Callers whose key has come least often lately go first, and a full queue
 * drops the caller whose key has come most often: a flood from thousands of networks waits behind a network
 * that has not tried before.
 */
export interface Gate {
  /**
   * @param key callers with the same key may take only a part of the queue.
   * @param deadlineMs `performance.now()` at which the caller gives up: its work is not started after that.
   * @param group a larger group that the key belongs to, whose calls beyond a bound count for each of its keys.
   * @throws Problem `too_many_requests` when too many of this key are inside or wait, `service_unavailable` when the
   * queue is full, `timeout` when the turn came too late
   */
  run<Result>(key: string, deadlineMs: number, work: () => Promise<Result>, group?: string): Promise<Result>;
}

interface GateOptions {
  readonly atOnce: number;
  /** Inside or waiting, of one key. */
  readonly maxPerKey: number;
  /** Waiting, of all keys. */
  readonly maxWaiting: number;
}

/** Calls of a group that do not count for the keys of the group. */
const freeOfGroup = 16;

export const createGate = (
  { atOnce, maxPerKey, maxWaiting }: GateOptions,
  recent = createRecentCounts(),
): Gate => {
  const present = new Map<string, number>();
  const queue: WaitingCaller[] = [];
  let inside = 0;

  const enter = async (rank: number): Promise<void> => {
    if (inside < atOnce) {
      inside++;
      return;
    }
    if (queue.length >= maxWaiting) {
      if (maxWaiting === 0 || queue.at(-1)!.rank <= rank) throw problem('service_unavailable');
      queue.pop()!.drop();
    }
    // A leaving caller hands its place to the next.
    await new Promise<void>((go, refuse) => {
      const next = queue.findIndex((other) => other.rank > rank);
      const caller = { rank, go, drop: () => refuse(problem('service_unavailable')) };
      queue.splice(next === -1 ? queue.length : next, 0, caller);
    });
  };
  const leave = (): void => {
    const next = queue.shift();
    if (next) next.go();
    else inside--;
  };

  return {
    run: async (key, deadlineMs, work, group = key) => {
      const count = present.get(key) ?? 0;
      if (count >= maxPerKey) throw problem('too_many_requests');
      const own = recent.add(`key ${key}`);
      const rank = group === key ? own : Math.max(own, recent.add(`group ${group}`) - freeOfGroup);
      present.set(key, count + 1);
      try {
        await enter(rank);
        try {
          if (performance.now() >= deadlineMs) throw problem('timeout');
          return await work();
        } finally {
          leave();
        }
      } finally {
        const left = present.get(key)! - 1;
        if (left > 0) present.set(key, left);
        else present.delete(key);
      }
    },
  };
};

interface WaitingCaller {
  readonly rank: number;
  go(): void;
  drop(): void;
}

interface RecentCounts {
  /** @returns how often this name has been added within the last ten to twenty minutes, before this time. */
  add(name: string): number;
}

const periodMs = 10 * 60_000;
/** About 10 MB for both periods. Beyond it the oldest names are forgotten. */
const maxNames = 50_000;

export const createRecentCounts = (nowMs = () => performance.now()): RecentCounts => {
  let current = new Map<string, number>();
  let former = new Map<string, number>();
  let endsMs = nowMs() + periodMs;
  return {
    add: (name) => {
      if (nowMs() >= endsMs) {
        former = nowMs() >= endsMs + periodMs ? new Map() : current;
        current = new Map();
        endsMs = nowMs() + periodMs;
      }
      const own = current.get(name) ?? 0;
      current.delete(name);
      current.set(name, own + 1);
      if (current.size > maxNames) current.delete(current.keys().next().value!);
      return own + (former.get(name) ?? 0);
    },
  };
};

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

/** Long enough for a hash on a busy machine, and short enough that gateways hold few requests of a flood. */
const answerAfterMs = 1000;
const maxWaiting = 1000;

export const createReserve = (access: Pick<Access, 'db' | 'now'>): Reserve => {
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
        access,
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
  { db, now }: Pick<Access, 'db' | 'now'>,
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
