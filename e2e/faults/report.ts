import type { Table } from '../load/report.ts';
import type { FaultResult } from './run.ts';
import { seconds } from './seconds.ts';

/** One row for each fault, as measured. */
export const tableOf = (results: readonly FaultResult[]): Table => ({
  title: 'Faults',
  columns: [
    'fault',
    'requests that failed',
    'requests',
    'failing for',
    'slowest request',
    'requests back after',
    'deliveries',
    'repeated',
    'latest delivery',
    'deliveries back after',
    'most of a limit',
  ],
  texts: 2,
  rows: results.map((result) => [
    result.detail ? `${result.name} (${result.detail})` : result.name,
    failuresOf(result),
    String(result.requests),
    span(result.failedForMs),
    seconds(result.slowestMs),
    span(result.requestsBackMs),
    String(result.deliveries),
    String(result.repeated),
    seconds(result.latestMs),
    span(result.deliveriesBackMs),
    `${Math.round(result.mostOfLimit * 100)} %`,
  ]),
});

const span = (ms: number): string => (ms > 0 ? seconds(ms) : '–');

const failuresOf = ({ failures }: FaultResult): string =>
  Object.entries(failures)
    .toSorted(([, a], [, b]) => b - a)
    .map(([end, count]) => `${count} × ${end.replace('error: ', 'no answer, ')}`)
    .join('; ') || 'none';
