import { ratio, type Table } from '../../load/report.ts';
import type { AttackResult } from './measure.ts';

/** One row for each process under attack. */
export const processTable = (results: readonly AttackResult[]): Table => ({
  title: 'Attacks: memory and processors',
  columns: [
    'attack',
    'requests and answers',
    'reported before the fix',
    'process',
    'memory before',
    'peak',
    'after',
    'growth',
    'allowed growth',
    'processor, undisturbed',
    'under attack',
  ],
  texts: 4,
  rows: results.flatMap(({ name, summary, before, processes }) =>
    processes.map((process) => [
      name,
      summary,
      before,
      process.name,
      mib(process.beforeMiB),
      mib(process.peakMiB),
      mib(process.afterMiB),
      mib(process.peakMiB - process.beforeMiB),
      mib(process.growthMiB),
      percent(process.cpuUndisturbed),
      percent(process.cpuAttacked),
    ]),
  ),
});

/** One row for each healthy caller of an attacked cluster. */
export const callerTable = (results: readonly AttackResult[]): Table => ({
  title: 'Attacks: healthy callers',
  columns: [
    'attack',
    'caller',
    'calls undisturbed',
    'under attack',
    'p50 undisturbed',
    'under attack',
    'p99 undisturbed',
    'under attack',
    'ratio',
  ],
  texts: 2,
  rows: results.flatMap(({ name, callers }) =>
    callers.map(({ caller, undisturbedMs, attackedMs, ratio: p99Ratio }) => [
      name,
      caller,
      String(undisturbedMs.count),
      String(attackedMs.count),
      ms(undisturbedMs.p50),
      ms(attackedMs.p50),
      ms(undisturbedMs.p99),
      ms(attackedMs.p99),
      ratio(p99Ratio),
    ]),
  ),
});

const mib = (value: number): string => `${Math.round(value)} MiB`;
const percent = (value: number): string => `${Math.round(value * 100)} %`;
const ms = (value: number): string => `${value.toFixed(1)} ms`;
