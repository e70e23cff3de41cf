import { problem } from '@causeway/proto';

/**
 * Limits how many callers work at a time; the others wait in a bounded queue. So the work behind a gate never takes
 * more database connections and hashes than the gate admits.
 */
export interface Gate {
  /**
   * @param key callers with the same key may take only a part of the queue.
   * @param deadlineMs `performance.now()` at which the caller gives up: its work is not started after that.
   * @throws Problem `too_many_requests` when too many of this key are inside or wait, `service_unavailable` when the
   * queue is full, `timeout` when the turn came too late
   */
  run<Result>(key: string, deadlineMs: number, work: () => Promise<Result>): Promise<Result>;
}

export interface GateOptions {
  readonly atOnce: number;
  /** Inside or waiting, of one key. */
  readonly maxPerKey: number;
  /** Waiting, of all keys. */
  readonly maxWaiting: number;
}

export const createGate = ({ atOnce, maxPerKey, maxWaiting }: GateOptions): Gate => {
  const present = new Map<string, number>();
  const waiting: (() => void)[] = [];
  let inside = 0;

  const enter = async (): Promise<void> => {
    if (inside < atOnce) {
      inside++;
      return;
    }
    if (waiting.length >= maxWaiting) throw problem('service_unavailable');
    // A leaving caller hands its place to the next.
    await new Promise<void>((go) => waiting.push(go));
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else inside--;
  };

  return {
    run: async (key, deadlineMs, work) => {
      const count = present.get(key) ?? 0;
      if (count >= maxPerKey) throw problem('too_many_requests');
      present.set(key, count + 1);
      try {
        await enter();
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
