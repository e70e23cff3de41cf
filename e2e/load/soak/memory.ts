import { readFileSync } from 'node:fs';
import type { StackProcess } from '../../../deploy/local/home.ts';
import type { Processes } from '../cpu.ts';
import { median, type Table } from '../report.ts';

/** The memory of every process, sampled at equal distances. */
export interface MemorySamples {
  sample(): Promise<void>;
  /** @param warmUp the first samples, which do not count. @param minutes between two samples */
  table(warmUp: number, minutes: number): Table;
}

/** @param stack processes that tell their heap and buffers by their metrics */
export const watchMemory = (processes: Processes, stack: readonly StackProcess[]): MemorySamples => {
  const series = new Map<string, number[]>();
  const add = (name: string, mib: number): void => {
    series.set(name, [...(series.get(name) ?? []), mib]);
  };
  return {
    sample: async () => {
      for (const [name, pid] of processes) add(name, residentMib(pid));
      for (const { name, metricsUrl } of stack)
        if (metricsUrl) {
          const text = await (await fetch(`${metricsUrl}/metrics`)).text();
          for (const [part, metric] of Object.entries(ofNode)) {
            const bytes = new RegExp(`^${metric} (\\S+)$`, 'm').exec(text)?.[1];
            if (bytes) add(`${name}, ${part}`, Number(bytes) / 2 ** 20);
          }
        }
    },
    table: (warmUp, minutes) => ({
      title: 'Memory after the warm-up, MiB',
      columns: ['process', 'first third', 'last third', 'least', 'most', 'growth a minute'],
      rows: [...series]
        .toSorted(([one], [other]) => one.localeCompare(other))
        .map(([name, all]) => {
          const samples = all.slice(warmUp);
          const third = Math.max(1, Math.floor(samples.length / 3));
          return [
            name,
            ...[
              // What V8 collects grows between two collections: its least value is nearest to what is in use.
              ...[samples.slice(0, third), samples.slice(-third)].map((part) =>
                name.includes(',') ? Math.min(...part) : median(part),
              ),
              Math.min(...samples),
              Math.max(...samples),
            ].map((mib) => mib.toFixed(1)),
            (slope(samples) / minutes).toFixed(2),
          ];
        }),
    }),
  };
};

const ofNode = { heap: 'nodejs_heap_size_used_bytes', buffers: 'nodejs_external_memory_bytes' } as const;

const residentMib = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

/** Of the line with the least squares, a step. */
const slope = (values: readonly number[]): number => {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let product = 0;
  let square = 0;
  for (const [at, value] of values.entries()) {
    product += (at - middle) * (value - mean);
    square += (at - middle) ** 2;
  }
  return square === 0 ? 0 : product / square;
};
