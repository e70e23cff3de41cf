import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Table, toMarkdown } from '../load/report/table.ts';

/** Writes `RESULTS.md` anew. */
export const writeFaults = (faults: Table, machine: Table): void => {
  const date = new Date().toISOString().slice(0, 10);
  const text = [
    '# Results',
    '',
    `${head.trim()} Measured on ${date}.`,
    '',
    toMarkdown(machine),
    toMarkdown(faults),
  ];
  writeFileSync(join(import.meta.dirname, 'RESULTS.md'), `${text.join('\n').trim()}\n`);
};

const head = `
What one run of \`npm run faults -- --write\` saw.
`;
