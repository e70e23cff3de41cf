import { readFileSync } from 'node:fs';

/** Process IDs by the name in the report. */
export type Processes = ReadonlyMap<string, number>;

/** Linux reports CPU time in hundredths of a second (`USER_HZ`, proc(5)). */
const secondsPerTick = 0.01;

/** CPU seconds of a process, over all its threads. */
export interface Cpu {
  readonly total: number;
  /** The part inside the kernel: system calls and the work that they cause. */
  readonly kernel: number;
}

/** CPU time of each process since its start. */
export const readCpu = (processes: Processes): ReadonlyMap<string, Cpu> =>
  new Map([...processes].map(([name, pid]) => [name, parseCpu(readFileSync(`/proc/${pid}/stat`, 'utf8'))]));

/** @param stat the text of `/proc/<pid>/stat`. */
export const parseCpu = (stat: string): Cpu => {
  // The name, in parentheses, may contain blanks; utime and stime are the 12th and 13th fields after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const kernel = Number(fields[12]) * secondsPerTick;
  return { total: Number(fields[11]) * secondsPerTick + kernel, kernel };
};

/** CPU time of each process between two readings. */
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
 * `write` and `writev` calls of each process since its start, to sockets, files and its own event loop (`syscw`, proc(5)). What
 * is sent by `send`, such as the gateway's answers and MySQL's, is not among them.
 */
export const readWrites = (processes: Processes): ReadonlyMap<string, number> =>
  new Map(
    [...processes].map(([name, pid]) => [
      name,
      Number(/^syscw: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]),
    ]),
  );

/**
 * CPU seconds that the whole machine has used since its start, including time that the hypervisor gave to others.
 * Shows whether the machine was otherwise quiet during a run.
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
