import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { promisify, styleText } from 'node:util';
import type { Program } from '../../deploy/local/toolchain.ts';

/** A titled table: the first columns are text, the others are figures. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  /** Number of text columns; the default is one. */
  readonly texts?: number;
  /** Printed, and not written to the results. */
  readonly isDetail?: boolean;
  readonly rows: readonly (readonly string[])[];
}

/** Formats a table for a terminal, with aligned columns and figures to the right. */
export const toTerminal = ({ title, columns, rows, texts = 1 }: Table): string => {
  const widths = columns.map((column, at) =>
    Math.max(column.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `  ${cells.map((cell, at) => (at < texts ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('   ')}`.trimEnd();
  const dim = (text: string) => styleText('dim', text, { stream: process.stdout });
  const bold = (text: string) => styleText('bold', text, { stream: process.stdout });
  const rule = dim(`  ${widths.map((width) => '─'.repeat(width)).join('───')}`);
  return ['', `  ${bold(title)}`, '', dim(line(columns)), rule, ...rows.map(line), ''].join('\n');
};

export const toMarkdown = ({ title, columns, rows, texts = 1 }: Table): string => {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const align = columns.map((_, at) => (at < texts ? '---' : '---:'));
  return [`### ${title}`, '', line(columns), line(align), ...rows.map(line), ''].join('\n');
};

/** The median: the middle value, or the mean of the middle two. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
};

/** @param share 0.5 for the median, 0.99 for the 99th percentile; nearest rank. */
export const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
};

/** `median (minimum–maximum)`, each formatted by `write`. */
export const withRange = (values: readonly number[], write: (value: number) => string): string =>
  `${write(median(values))} (${write(Math.min(...values))}–${write(Math.max(...values))})`;

export const whole = (value: number): string =>
  Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ' ');
export const ratio = (value: number): string => `${value.toFixed(2)}×`;
export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
export const millis = (value: number): string => `${value.toFixed(2)} ms`;
/** Small figures with one decimal, large ones without. */
export const micros = (value: number): string =>
  value >= 10 ? Math.round(value).toString() : value.toFixed(1);

/** The machine of the measurements, and the version of every given program. */
export const describeMachine = async (programs: Readonly<Record<string, Program>>): Promise<Table> => {
  const cores = cpus();
  const versions = await Promise.all(
    Object.entries(programs).map(async ([name, program]) => [name, await versionOf(program)]),
  );
  return {
    title: 'Machine',
    columns: ['part', 'what'],
    texts: 2,
    rows: [
      ['processor', `${cores[0]?.model.trim() ?? 'unknown'}, ${cores.length} cores`],
      ['memory', `${(totalmem() / 2 ** 30).toFixed(1)} GiB`],
      ['system', `${distribution()}, Linux ${release()}, ${process.arch}`],
      ['Node', process.version],
      ...versions.map(([name = '', version = '']) => [name, version]),
    ],
  };
};

const versionOf = async ({ command, args }: Program): Promise<string> => {
  const run = promisify(execFile)(command, [...args, '--version']);
  // wrk prints its version with its usage and exits with an error.
  const { stdout, stderr } = await run.catch((error: { stdout?: string; stderr?: string }) => error);
  return /\d+(?:\.\d+)+/.exec(`${stdout}${stderr}`)?.[0] ?? 'unknown';
};

const distribution = (): string => {
  try {
    return /^PRETTY_NAME="?([^"\n]+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'Linux';
  } catch {
    return 'Linux';
  }
};

const ofBenches = {
  file: join(import.meta.dirname, 'RESULTS.md'),
  head: `# Results

The figures of one run of each bench, written by \`npm run bench -- <name> --write\`. Ratios can be compared
between machines, absolute figures cannot.
`,
};

/** A figure that has a goal. */
export type Goal = readonly [what: string, measured: string, goal: string];

const published: Goal[] = [];

/** The figures with a goal of all benches that this process has run. */
export const goalsTable = (): Table => ({
  title: 'Where it stands',
  columns: ['', 'measured', 'goal'],
  rows: published,
});

/** Prints the tables of one bench, and writes them if its options say so. */
export const publish = (
  bench: string,
  { write }: { readonly write: boolean },
  text: string,
  tables: readonly Table[],
  goals: readonly Goal[] = [],
): void => {
  published.push(...goals);
  for (const table of tables) process.stdout.write(`${toTerminal(table)}\n`);
  if (!write) return;
  const machine = tables.filter(isMachine);
  if (machine.length > 0) writeResults('machine', 'Of the bench that was written last.', machine);
  writeResults(
    bench,
    text,
    tables.filter((table) => !table.isDetail && !isMachine(table)),
  );
};

const isMachine = ({ title }: Table): boolean => title === 'Machine';

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
