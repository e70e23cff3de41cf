import { type Body, type Command, commands } from './commands.ts';

/** An answer as plain text: single values as aligned lines, then each list as a table. */
export const plain = (answer: Body): string => {
  const parts = flat(answer);
  const lists = parts.filter(([, value]) => isList(value)) as [string, readonly Body[]][];
  const lines = parts.flatMap(([name, value]) => (isList(value) ? [] : [[titleOf(name), textOf(value)]]));
  return [
    ...(lines.length > 0 ? [columns(lines)] : []),
    ...lists.map(([name, rows]) => (rows.length === 0 ? `No ${titleOf(name)}.` : table(rows))),
  ].join('\n\n');
};

/** Objects within objects become names of several words. */
const flat = (body: Body, before = ''): [string, unknown][] =>
  Object.entries(body).flatMap(([name, value]): [string, unknown][] =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? flat(value as Body, `${before}${name} `)
      : [[before + name, value]],
  );

/** Columns without any value are left out. */
const table = (rows: readonly Body[]): string => {
  const all = rows.map((row) => new Map(flat(row)));
  const names = [...new Set(all.flatMap((row) => [...row.keys()]))].filter((name) =>
    all.some((row) => (row.get(name) ?? null) !== null),
  );
  return columns([names.map(titleOf), ...all.map((row) => names.map((name) => textOf(row.get(name))))]);
};

const isList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => item !== null && typeof item === 'object');

const titleOf = (name: string): string => name.replaceAll('_', ' ').replace(/ utc$/, ' (UTC)');

const textOf = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return '–';
  if (Array.isArray(value)) return value.join(' ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value).replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\S+Z$/, '$1 $2');
};

const program = 'npm run -s causeway --';

export const helpAll = (): string =>
  `Causeway's operator: companies, API keys, limits, secrets.

Usage: ${program} <command> [options]

${columns(commands.map((command) => [`  ${command.words.join(' ')}`, command.about]))}

Every command takes --json (one JSON object on standard output) and --help (its options).
For developers, with an API key and --help alone: listen, trigger, tail.
The cluster is the running one of STACK_HOME (.stack), or the one that NATS_URL names.
Exit status: 0 done, 1 refused or not reachable, 2 not understood.
`;

export const helpFor = ({ about, words, usage, options, notes }: Command): string => {
  const lines = Object.entries(options).map(([name, { value, about, required }]) => ({
    flag: value ? `--${name} ${value}` : `--${name}`,
    about,
    required,
  }));
  const all = [
    ...lines,
    { flag: '--json', about: 'print one JSON object' },
    { flag: '--help', about: 'print this' },
  ];
  return `${about}.

Usage: ${program} ${[...words, usage ?? lines.map(({ flag, required }) => (required ? flag : `[${flag}]`)).join(' ')].join(' ')}

${columns(all.map((line) => [`  ${line.flag}`, line.about]))}
${notes ? `\n${notes.join('\n')}\n` : ''}`;
};

export const hintFor = ([noun, verb]: readonly string[]): string => {
  const isKnown = commands.some(({ words }) => words[0] === noun && words[1] === verb);
  return `${program} ${isKnown ? `${noun} ${verb} ` : ''}--help`;
};

/** Columns two spaces apart, without trailing spaces. Widths count code points. */
export const columns = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => [...(row[at] ?? '')].length)));
  const padded = (text: string, at: number) => text + ' '.repeat(widths[at]! - [...text].length);
  return rows.map((row) => row.map(padded).join('  ').trimEnd()).join('\n');
};
