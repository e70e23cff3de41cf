import { ratio, type Table } from '../../load/report.ts';
import type { AttackResult } from './measure.ts';

/** One row for each process under attack. */
export const processTable = (results: readonly AttackResult[]): Table => ({
  title: 'Attacks',
  columns: [
    'attack',
    'requests and answers',
    'process',
    'memory before',
    'growth',
    'allowed growth',
    'p99 of healthy callers at most',
  ],
  texts: 3,
  rows: results.flatMap(({ name, summary, processes, callers }) =>
    processes.map((process) => [
      name,
      summary,
      process.name,
      mib(process.beforeMiB),
      mib(process.peakMiB - process.beforeMiB),
      mib(process.growthMiB),
      ratio(Math.max(...callers.map((caller) => caller.ratio))),
    ]),
  ),
});

/** One row for each healthy caller of an attacked cluster. */
export const callerTable = (results: readonly AttackResult[]): Table => ({
  title: 'Attacks: healthy callers',
  columns: ['attack', 'caller', 'p99 undisturbed', 'under attack', 'ratio'],
  texts: 2,
  isDetail: true,
  rows: results.flatMap(({ name, callers }) =>
    callers.map(({ caller, undisturbedMs, attackedMs, ratio: p99Ratio }) => [
      name,
      caller,
      ms(undisturbedMs.p99),
      ms(attackedMs.p99),
      ratio(p99Ratio),
    ]),
  ),
});

const mib = (value: number): string => `${Math.round(value)} MiB`;
const ms = (value: number): string => `${value.toFixed(1)} ms`;
