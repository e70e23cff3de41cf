import { networkOf, problem, siteOf } from '@causeway/proto';
import { each, type LaneHandler } from './lanes/server.ts';

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
      const ownAttempts = recent.add(`key ${key}`);
      const rank =
        group === key ? ownAttempts : Math.max(ownAttempts, recent.add(`group ${group}`) - freeOfGroup);
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
      const count = current.get(name) ?? 0;
      current.delete(name);
      current.set(name, count + 1);
      if (current.size > maxNames) current.delete(current.keys().next().value!);
      return count + (former.get(name) ?? 0);
    },
  };
};

/** For an operation without a session whose work costs no hash: a flood of one such operation shuts out no other. */
export const behindOwnGate = (handler: LaneHandler): LaneHandler => {
  const gate = createGate(openGate);
  return each((call) => {
    const address = call.actor?.address ?? '';
    const run = async () => (await handler([call])[0])!;
    return gate.run(networkOf(address), call.deadlineMs, run, siteOf(address));
  });
};

/** Some milliseconds of work each. */
export const openGate: GateOptions = { atOnce: 1, maxPerKey: 8, maxWaiting: 64 };
