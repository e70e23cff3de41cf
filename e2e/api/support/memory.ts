import { readFileSync } from 'node:fs';
import type { StackProcess } from '../../../deploy/local/home.ts';

/** Total resident memory of several processes, in MiB. */
export interface Memory {
  readonly beforeMiB: number;
  readonly peakMiB: number;
  readonly afterMiB: number;
}

const readEveryMs = 20;

/** Samples the resident memory of these processes until stopped. */
export const watchMemory = (processes: readonly StackProcess[]): { stop(): Memory } => {
  const read = () => processes.reduce((sum, { pid }) => sum + residentMiB(pid), 0);
  const beforeMiB = read();
  let peakMiB = beforeMiB;
  const timer = setInterval(() => {
    peakMiB = Math.max(peakMiB, read());
  }, readEveryMs);
  return {
    stop: () => {
      clearInterval(timer);
      const afterMiB = read();
      return { beforeMiB, peakMiB: Math.max(peakMiB, afterMiB), afterMiB };
    },
  };
};

const residentMiB = (pid: number | null): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
