import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eachTick } from './repeat.ts';

/**
 * V8 keeps what work has left behind until more work needs the room, which a process at rest never does: 40 MB after a start.
 * Collecting it takes up to a tenth of a second, so it waits until next to nothing happens.
 */
export const collectAtRest = (): void => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  let before = process.cpuUsage();
  let leftBytes = 0;
  let collectedMs = -pauseMs;
  eachTick(() => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    const isPaused = performance.now() - collectedMs < pauseMs;
    if (isPaused || user + system > restingUs || sizeOfHeap() < leftBytes + worthBytes) return;
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    leftBytes = sizeOfHeap();
    collectedMs = performance.now();
  }, lookEveryMs);
};

const lookEveryMs = 5_000;
/** One twentieth of a core. */
const restingUs = 250_000;
const worthBytes = 8 * 1024 ** 2;
/** A service that always does a little would spend a third of its processor time here. */
const pauseMs = 60_000;

const sizeOfHeap = (): number => {
  const { total_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
};
