import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Table, toMarkdown } from '../load/report/table.ts';

const file = join(import.meta.dirname, 'RESULTS.md');

/**
 * Writes the rows of these faults into the tables of `RESULTS.md` and keeps those of the others.
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
What \`npm run faults -- --write\` saw; each row is the last run of its fault. Three NATS servers with three copies of each stream, two
gateways, two crm, two webhooks, three dispatchers, access and MySQL ran on one machine, each connection between
them over a TCP proxy of its own. Callers began creates at a steady rate and sent each again, after a second, until
it was answered 2xx; each create is an event that a subscriber has to get. Beside them four keys asked faster than
their limits of 60, 120, 180 and 240 a minute let them.

After each fault was held: every record that was answered for is there; every committed event arrived, and no
other; no key got more than its limit in any window; every answer was one that the OpenAPI document has, and every error
one of 503 \`lock_timeout\`, \`keys_unavailable\`, \`service_unavailable\` and 504 \`timeout\`. Requests may end without
an answer only where a gateway itself is taken away. The restart and the attacks may show nothing at all: no failed
request, no delivery that came twice.

"Back after" counts from the healing, or from the kill where the supervisor heals; "failing for" is from the first
failure to the last. A delivery is late from three seconds on. A cut is *refused* (connections are reset, new ones not
taken) or *silent* (nothing comes through, and what was sent arrives when it is healed).

Attacks (\`npm run faults -- --only hostile\`) happen to a cluster of one process of each kind, so that attackers and healthy callers
share all of them. A run alternates undisturbed times and times under attack, and compares the two: the 99th percentile of
each healthy caller's calls may double, and the memory of the gateway and of the process that is aimed at may grow by
what its row says. Attackers run in a process of their own, at the lowest priority, because they would have processors of
their own elsewhere. What was "reported before" comes from the report of the weakness and was not measured by this run.
`;
