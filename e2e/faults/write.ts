import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Table, toMarkdown } from '../load/report/table.ts';

const file = join(import.meta.dirname, 'RESULTS.md');

/**
 * Writes the rows of these faults into `RESULTS.md` and keeps those of the others.
 * @param names of all faults, in the order of their rows.
 */
export const writeFaults = (faults: Table, machine: Table, names: readonly string[]): void => {
  const known = existsSync(file) ? rowsOf(readFileSync(file, 'utf8')) : [];
  const isOf = (name: string) => (row: readonly string[]) =>
    row[0] === name || row[0]?.startsWith(`${name} (`);
  const rows = names.flatMap((name) => {
    const row = faults.rows.find(isOf(name)) ?? known.find(isOf(name));
    return row ? [row] : [];
  });
  const text = ['# Results', '', head.trim(), '', toMarkdown(machine), toMarkdown({ ...faults, rows })];
  writeFileSync(file, `${text.join('\n').trim()}\n`);
};

const rowsOf = (text: string): readonly (readonly string[])[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(' | '));

const head = `
What \`npm run faults -- --write\` saw; each row is the last run of its fault. Three NATS servers with three copies of each stream, two
gateways, two crm, two webhooks, three dispatchers, access and MySQL ran on one machine, each connection between
them over a TCP proxy of its own. Callers began creates at a steady rate and sent each again, after a second, until
it was answered 2xx; each create is an event that a subscriber has to get. Beside them four keys asked faster than
their limits of 60, 120, 180 and 240 a minute let them.

After each fault was held: every record that was answered for is there; every committed event arrived, and no
other; no key got more than its limit in any window; every answer was one that the OpenAPI document has, and every error
one of 503 \`lock_timeout\`, \`keys_unavailable\`, \`service_unavailable\` and 504 \`timeout\`. Requests may end without
an answer only where a gateway itself is taken away. The restart may show nothing at all: no failed request, no
delivery that came twice.

"Back after" counts from the healing, or from the kill where the supervisor heals; "failing for" is from the first
failure to the last. A delivery is late from three seconds on. A cut is *refused* (connections are reset, new ones not
taken) or *silent* (nothing comes through, and what was sent arrives when it is healed).
`;
