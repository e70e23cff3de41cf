import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseUnavailable, isShardSwitch } from './errors.ts';

/**
 * Repeats `work` while vtgate refuses it because a shard is split or gets another primary, which takes about a second.
 * @param onRetry called before each repetition.
 * @throws DatabaseUnavailable if that takes longer than `patienceMs`.
 */
export const throughShardSwitch = async <Result>(
  work: () => Promise<Result>,
  onRetry: () => void = () => {},
): Promise<Result> => {
  const endMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isShardSwitch(error)) throw error;
      if (performance.now() > endMs)
        throw new DatabaseUnavailable('unreachable', 'a shard is being switched', { cause: error });
    }
    onRetry();
    await sleep(pauseMs);
  }
};

const patienceMs = 5_000;
const pauseMs = 100;
