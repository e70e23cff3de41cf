import { readFileSync } from 'node:fs';

/** Processes by the name they have in the report. */
export type Processes = ReadonlyMap<string, number>;

/** Linux counts a process's time in hundredths of a second for everyone who reads it (`USER_HZ`, proc(5)). */
const secondsPerTick = 0.01;

/** CPU seconds of a process, all its threads. */
export interface Cpu {
  readonly total: number;
  /** Of it, inside the kernel: system calls, and what they set off. */
  readonly kernel: number;
}

/** What each process has used since its start. */
export const readCpu = (processes: Processes): ReadonlyMap<string, Cpu> =>
  new Map([...processes].map(([name, pid]) => [name, parseCpu(readFileSync(`/proc/${pid}/stat`, 'utf8'))]));

/** @param stat the text of `/proc/<pid>/stat`. */
export const parseCpu = (stat: string): Cpu => {
  // The name, in parentheses, may hold blanks; utime and stime are the 12th and 13th fields after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const kernel = Number(fields[12]) * secondsPerTick;
  return { total: Number(fields[11]) * secondsPerTick + kernel, kernel };
};

/** What each process used between two readings. */
export const usedBetween = (
  before: ReadonlyMap<string, Cpu>,
  after: ReadonlyMap<string, Cpu>,
): ReadonlyMap<string, Cpu> =>
  new Map(
    [...after].map(([name, { total, kernel }]) => [
      name,
      { total: total - (before.get(name)?.total ?? 0), kernel: kernel - (before.get(name)?.kernel ?? 0) },
    ]),
  );

/**
 * CPU seconds that the whole machine has spent on anything since its start, the time its hypervisor gave to
 * others included: by it a run on a disturbed machine is told from one on a quiet machine.
 */
export const readMachineCpu = (): number => {
  const [user, nice, system, , , irq, softirq, steal] = (
    readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? ''
  )
    .replace(/^cpu\s+/, '')
    .split(' ')
    .map(Number);
  return (
    [user, nice, system, irq, softirq, steal].reduce<number>((sum, ticks) => sum + (ticks ?? 0), 0) *
    secondsPerTick
  );
};
