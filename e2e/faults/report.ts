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

const file = join(import.meta.dirname, 'RESULTS.md');

/**
 * Writes the rows of these faults to the tables of `RESULTS.md`, and keeps the rows of other faults.
 * @param names of all faults, in the order of their rows.
 */
export const writeFaults = (tables: readonly Table[], machine: Table, names: readonly string[]): void => {
  const known = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const merged = tables.map((table) => {
    const rows = rowsOf(known, table.title);
    const fresh = (name: string) => table.rows.filter(isOf(name));
    const old = (name: string) => rows.filter(isOf(name));
    return { ...table, rows: names.flatMap((name) => (fresh(name).length > 0 ? fresh(name) : old(name))) };
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
Measurements of \`npm run faults -- --write\`; each row is the last run of its fault that passed. Three NATS servers
with three copies of each stream, two gateways, two crm, two webhooks, three dispatchers, access and MySQL run on one
machine, with a TCP proxy for each connection between them. Clients of four companies write down what they send and what
they are answered: creates at a steady rate, each retried every second until it is answered 2xx; edits with \`If-Match\`,
records that refer to one another, erasures, repetitions, batches; readers of the changes, lists and events; four keys that
send more than their limits of 60, 120, 180 and 240 per minute; receivers, one of them with a pace; a member whose role changes.

After each fault, [a checker](history) reads these histories against sentences of [the contract](../../proto/CONTRACT.md), and
prints a broken sentence with the lines that break it. An unknown outcome (504, no answer) may be either; a 503 and a refusal did
nothing. Requests may end without an answer only if a gateway itself failed. During the restart and the attacks, no request may
fail and no delivery may arrive twice.

"Back after" counts from the healing, or from the kill if the supervisor heals; "failing for" is the time from the first
failure to the last. A delivery is late after three seconds. A cut is *refused* (connections are reset, new ones
refused) or *silent* (no data passes, and data sent meanwhile arrives after the healing).

Attacks (\`npm run faults -- --only hostile\`) run on a cluster with one process of each kind, which attackers and healthy
callers share. A run alternates between undisturbed phases and phases under attack, and compares them: the 99th
percentile of each healthy caller may double, and the memory of the gateway and of the process under attack may grow by
the allowed amount in its row. Attackers run in a process of their own at the lowest priority, because real attackers
have machines of their own. They send at most 10 bodies of 1 MiB and 300 sign-ins per second: with several times as much,
both cores are busy, and any work slows every caller down. The figures "reported before the fix" come from the report of the weakness, not from this run.
`;
