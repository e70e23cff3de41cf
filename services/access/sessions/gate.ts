import { problem } from '@causeway/proto';

/**
 * Lets a few callers work at a time; the others wait their turn in a queue of bounded length. Work that comes in
 * through a gate takes no more database connections and hashes at once than the gate lets through.
 */
export interface Gate {
  /**
   * @param key callers with one key may only take a part of the queue.
   * @param deadlineMs `performance.now()` at which the caller gives up: its work is not begun after that.
   * @throws Problem `too_many_requests` when too many of this key are inside or wait, `service_unavailable` when
   * the queue is full, `timeout` when the turn came too late
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
    // Whoever leaves hands over the place.
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
