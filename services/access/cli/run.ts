import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { type Body, bodyOf, type Command, commands, UsageError, type Values } from './commands.ts';

const root = join(import.meta.dirname, '../../..');

interface Terminal {
  readonly env?: NodeJS.ProcessEnv;
  out(text: string): void;
  /** Resolves when more can be written; `out` by default. */
  write?(text: string): Promise<void>;
  err(text: string): void;
  /** Aborted when the user stops the command. */
  readonly signal?: AbortSignal;
}

const ofProcess: Terminal = {
  out: (text) => void process.stdout.write(text),
  write: (text) =>
    new Promise((resolve, reject) => {
      const { stdout } = process;
      // A reader that has gone, such as `head`, is an error of the stream too.
      stdout.once('error', reject);
      stdout.write(text, (error) => {
        if (error) return reject(error);
        stdout.off('error', reject);
        resolve();
      });
    }),
  err: (text) => void process.stderr.write(text),
};

/**
 * Runs one command line. It loads heavy modules only to call a cluster, so that help and usage errors appear at once.
 * @returns the exit status: 0 done, 1 refused or not reachable, 2 not understood.
 */
export const run = async (args: readonly string[], terminal = ofProcess): Promise<number> => {
  if (developerCommands.has(args[0] ?? '')) return runDeveloper(args, terminal);
  try {
    const request = readArguments(args);
    if (request.kind === 'run') return await ask(request, terminal);
    terminal.out(request.command ? helpFor(request.command) : helpAll());
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    terminal.err(`causeway: ${error.message}\nSee: ${hintFor(args)}\n`);
    return 2;
  }
};

/** Those of the client's package, which need an API key and nothing of the cluster. */
const developerCommands: ReadonlySet<string> = new Set(['import', 'listen', 'trigger', 'tail']);

const runDeveloper = async (args: readonly string[], terminal: Terminal): Promise<number> => {
  const [{ readEnv }, { runTerminal, untilStopped }] = await Promise.all([
    import('@causeway/runtime/client'),
    import('@causeway/proto/client/terminal'),
  ]);
  const { env = readEnv(), out, err, signal = untilStopped() } = terminal;
  const isTerminal = terminal === ofProcess && process.stdout.isTTY;
  return runTerminal(args, { env, out, err, signal, isTerminal });
};

const ask = async (
  { command, values, json }: Extract<Request, { kind: 'run' }>,
  terminal: Terminal,
): Promise<number> => {
  const refuse = (sentence: string): number => {
    terminal.err(`causeway: ${sentence}\n`);
    return 1;
  };
  const password = await passwordFor(values['password-stdin'], command.operation);
  const body = { ...bodyOf(command, values), ...password?.sent };
  const [{ readEnv }, { call, findCluster, Unreachable }] = await Promise.all([
    import('@causeway/runtime/client'),
    import('./cluster.ts'),
  ]);
  try {
    const cluster = findCluster(terminal.env ?? readEnv(), root);
    const { operation, lane = 'operator', parts, beside, exports } = command;
    if (exports) {
      const { exportLines, Interrupted } = await import('./export.ts');
      const { out } = values;
      const { write = async (text: string) => terminal.out(text) } = terminal;
      const file = typeof out === 'string' ? out : undefined;
      try {
        const lines = await exportLines({ cluster, body, exports, file, write });
        if (file !== undefined)
          terminal.out(json ? `${JSON.stringify({ file, lines })}\n` : `${lines} lines in ${file}\n`);
        return 0;
      } catch (error) {
        if (!(error instanceof Interrupted)) throw error;
        return refuse(error.message);
      }
    }
    let answer: Body | undefined;
    for (let next: Body | undefined = body; next; next = parts?.next(answer)) {
      const { status, body: latest } = await call(cluster, lane, operation, next);
      if (status >= 400) return refuse(sentenceOf(latest));
      answer = answer ? (parts?.join(answer, latest) ?? latest) : latest;
    }
    if (beside && answer) {
      const other = await call(cluster, beside.lane ?? 'operator', beside.operation, body);
      if (other.status >= 400) return refuse(sentenceOf(other.body));
      answer = beside.join(answer, other.body);
    }
    const shown = { ...answer, ...password?.shown };
    const advice = command.advice?.(shown);
    terminal.out(`${json ? JSON.stringify(shown) : plain(shown)}\n${json || !advice ? '' : `\n${advice}\n`}`);
    return answer && command.succeeded?.(answer) === false ? 1 : 0;
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    return refuse(error.message);
  }
};

/** A password that was generated here must be shown; one from standard input must not. */
const passwordFor = async (fromInput: string | boolean | undefined, operation: string) => {
  if (operation !== 'createPortalOwner') return undefined;
  if (fromInput) return { sent: { password: await passwordFromInput() }, shown: {} };
  const password = generatePassword();
  return { sent: { password }, shown: { password } };
};

/** The service's own message (contract, "Requests and errors"), or every detail it lists. */
const sentenceOf = ({ error, details, requestId }: Refusal): string => {
  const said = details?.map(({ message }) => message).join('; ') || error || 'the access service refused';
  return requestId ? `${said} (${requestId} in the log of access)` : said;
};

interface Refusal {
  readonly error?: string;
  readonly details?: readonly { readonly message: string }[];
  readonly requestId?: string;
}

type Request =
  | { readonly kind: 'help'; readonly command?: Command }
  | { readonly kind: 'run'; readonly command: Command; readonly values: Values; readonly json: boolean };

/** @throws UsageError in one sentence. */
export const readArguments = (args: readonly string[]): Request => {
  const [noun, verb] = args;
  const wantsHelp = args.includes('--help') || args.includes('-h');
  if (noun === undefined || noun.startsWith('-') || noun === 'help') {
    if (wantsHelp || noun === undefined || noun === 'help') return { kind: 'help' };
    throw new UsageError(`a command comes first, not ${noun}`);
  }
  const command = commands.find(({ words }) => words[0] === noun && words[1] === verb);
  if (!command) {
    if (wantsHelp) return { kind: 'help' };
    const verbs = commands.flatMap(({ words }) => (words[0] === noun ? [words[1]] : []));
    if (verbs.length === 0) throw new UsageError(`there is no command "${noun}"`);
    const choice = verbs.map((word) => `"${noun} ${word}"`).join(' or ');
    throw new UsageError(
      verb === undefined ? `${choice}?` : `there is no command "${noun} ${verb}"; ${choice}?`,
    );
  }
  if (wantsHelp) return { kind: 'help', command };
  const { json, ...values } = readOptions(command, args.slice(2));
  for (const [name, { required }] of Object.entries(command.options)) {
    if (required && values[name] === undefined) throw new UsageError(`--${name} is required`);
  }
  return { kind: 'run', command, values, json: json === true };
};

const readOptions = ({ options }: Command, args: readonly string[]): Values => {
  const flags = Object.fromEntries(
    Object.entries({ ...options, json: { about: '' } }).map(([name, option]) => [
      name,
      { type: 'value' in option && option.value ? ('string' as const) : ('boolean' as const) },
    ]),
  );
  try {
    const { values, tokens } = parseArgs({ args: [...args], options: flags, strict: true, tokens: true });
    const names = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice) throw new UsageError(`--${twice} is given twice`);
    return values as Values;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    // Node's message says more than is needed; its first part names the option.
    const [reason = ''] = (error as Error).message.split(/[.;](?:\s|$)/);
    throw new UsageError(reason.charAt(0).toLowerCase() + reason.slice(1));
  }
};

/** Without easily confused characters. */
const alphabet = '23456789abcdefghjkmnpqrstuvwxyz';

/** Four groups of five characters: 99 bits, and short enough to type from paper. */
const generatePassword = (): string =>
  Array.from({ length: 4 }, () =>
    Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join(''),
  ).join('-');

const passwordFromInput = async (): Promise<string> => (await text(process.stdin)).replace(/\r?\n$/, '');

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
For developers, with an API key: ${[...developerCommands].join(', ')}; each has a --help.
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

const hintFor = ([noun, verb]: readonly string[]): string => {
  const isKnown = commands.some(({ words }) => words[0] === noun && words[1] === verb);
  return `${program} ${isKnown ? `${noun} ${verb} ` : ''}--help`;
};

/** Columns two spaces apart, without trailing spaces. Widths count code points. */
const columns = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => [...(row[at] ?? '')].length)));
  const padded = (text: string, at: number) => text + ' '.repeat(widths[at]! - [...text].length);
  return rows.map((row) => row.map(padded).join('  ').trimEnd()).join('\n');
};
