import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Table, toMarkdown } from './table.ts';

const ofBenches = {
  file: join(import.meta.dirname, '..', 'RESULTS.md'),
  head: `# Results

The figures of one run of each bench, written by \`npm run bench -- <name> --write\`. Ratios can be compared
between machines, absolute figures cannot.
`,
};

/**
 * Replaces the section of one bench in `RESULTS.md`. @param text Markdown: how the bench measures, and how to read
 * it. @param to the document, and its head if it does not exist yet.
 */
export const writeResults = (
  bench: string,
  text: string,
  tables: readonly Table[],
  { file, head } = ofBenches,
): void => {
  const begin = `<!-- ${bench}: begin -->`;
  const end = `<!-- ${bench}: end -->`;
  const date = new Date().toISOString().slice(0, 10);
  const section = [begin, `## ${bench}, ${date}`, '', text.trim(), '', ...tables.map(toMarkdown), end].join(
    '\n',
  );
  const old = existsSync(file) ? readFileSync(file, 'utf8') : head;
  const from = old.indexOf(begin);
  const to = old.indexOf(end);
  const next =
    from < 0
      ? `${old.trimEnd()}\n\n${section}\n`
      : `${old.slice(0, from)}${section}${old.slice(to + end.length)}`;
  writeFileSync(file, next);
};
