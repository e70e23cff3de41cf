import { readFileSync } from 'node:fs';

/** Processes by the name they have in the report. */
export type Processes = ReadonlyMap<string, number>;

/** Linux counts a process's time in hundredths of a second for everyone who reads it (`USER_HZ`, proc(5)). */
const secondsPerTick = 0.01;

/** CPU seconds, user and system, all threads, that each process has used since its start. */
export const readCpu = (processes: Processes): ReadonlyMap<string, number> =>
  new Map([...processes].map(([name, pid]) => [name, cpuSeconds(readFileSync(`/proc/${pid}/stat`, 'utf8'))]));

/** @param stat the text of `/proc/<pid>/stat`. */
export const cpuSeconds = (stat: string): number => {
  // The name, in parentheses, may hold blanks; utime and stime are the 12th and 13th fields after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * secondsPerTick;
};

/** What each process used between two readings, in seconds. */
export const usedBetween = (
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> =>
  new Map([...after].map(([name, seconds]) => [name, seconds - (before.get(name) ?? 0)]));
