import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seconds, type Table, toMarkdown } from '../load/report.ts';
import type { FaultResult } from './run.ts';

/** One row for each fault, as measured. */
export const tableOf = (results: readonly FaultResult[]): Table => ({
  title: 'Faults',
  columns: [
    'fault',
    'requests that failed',
    'failing for',
    'slowest request',
    'deliveries repeated',
    'latest delivery',
  ],
  texts: 2,
  rows: results.map((result) => [
    result.detail ? `${result.name} (${result.detail})` : result.name,
    failuresOf(result),
    span(result.failedForMs),
    seconds(result.slowestMs),
    String(result.repeated),
    seconds(result.latestMs),
  ]),
});

const span = (ms: number): string => (ms > 0 ? seconds(ms) : '–');

const failuresOf = ({ failures }: FaultResult): string =>
  Object.entries(failures)
    .toSorted(([, a], [, b]) => b - a)
    .map(([end, count]) => `${count} × ${end.replace('error: ', 'no answer, ')}`)
    .join('; ') || 'none';

const file = join(import.meta.dirname, 'RESULTS.md');

/**
 * Writes the rows of these faults to the tables of `RESULTS.md`, and keeps the rows of other faults.
 * @param names of all faults, in the order of their rows.
 */
export const writeFaults = (tables: readonly Table[], machine: Table, names: readonly string[]): void => {
  const known = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const written = tables.filter((table) => !table.isDetail);
  const merged = written.map((table) => {
    const rows = rowsOf(known, table.title);
    const fresh = (name: string) => table.rows.filter(isOf(name));
    const hasEffect = ([, failed, , , repeated]: readonly string[]) => failed !== 'none' || repeated !== '0';
    const old = (name: string) => rows.filter(isOf(name));
    return {
      ...table,
      rows: names.flatMap((name) => (fresh(name).length > 0 ? fresh(name).filter(hasEffect) : old(name))),
    };
  });
  const text = ['# Results', '', head.trim(), '', toMarkdown(machine), ...merged.map(toMarkdown)];
  writeFileSync(file, `${text.join('\n').trim()}\n`);
};

const isOf = (name: string) => (row: readonly string[]) =>
  row[0] === name || row[0]?.startsWith(`${name} (`) === true;

/** The rows of the table with this title. */
const rowsOf = (text: string, title: string): readonly (readonly string[])[] => {
  const [, section = ''] = text.split(`### ${title}\n`);
  const [table = ''] = section.split('\n### ');
  return table
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(' | '));
};

const head = `
Measurements of \`npm run faults -- --write\`: the last run of each fault that passed, if a request failed or a delivery came twice. Of
rows that say the same, only some are kept here. Three NATS servers, two gateways, two crm, two webhooks, three dispatchers, access and
MySQL run on one machine, with a TCP proxy for each connection between them. After each fault, [a checker](history) compares what the
clients saw with [the contract](../../proto/CONTRACT.md). Requests may end without an answer only if a gateway itself failed.

On a slow machine the load is made smaller until it leaves half of the processors. Bounds of time, which the command checks, come on
top of what the same load takes without a fault.

"Failing for" is the time from the first failure to the last. A cut is *refused* (connections are reset, new ones refused) or *silent*
(no data passes until the healing).

Attacks (\`npm run faults -- --only hostile\`) run on a cluster with one process of each kind: the 99th percentile of each healthy caller
may double, and memory may grow by the allowed amount. In them, and during a restart, no request may fail and no delivery may come twice.
`;
