import { parseArgs } from 'node:util';
import { CausewayError, createClient } from '../index.ts';
import { type DeveloperCommand, type Options, type Terminal, UsageError, webUrl } from './command.ts';
import { importFile } from './import.ts';
import { listen } from './listen.ts';
import { tail } from './tail.ts';
import { trigger } from './trigger.ts';

export const developerCommands: Readonly<Record<string, DeveloperCommand>> = {
  import: importFile,
  listen,
  trigger,
  tail,
};

const shared: DeveloperCommand['options'] = {
  key: ['KEY', 'an API key; CAUSEWAY_KEY by default'],
  url: ['URL', 'of the installation; CAUSEWAY_URL, or http://localhost:8080'],
};

/** @returns the exit status: 0 done or stopped, 1 refused or not reachable, 2 not understood. */
export const runTerminal = async (args: readonly string[], terminal: Terminal): Promise<number> => {
  const [name = '', ...rest] = args;
  const command = Object.hasOwn(developerCommands, name) ? developerCommands[name] : undefined;
  if (!command || rest.includes('--help') || rest.includes('-h')) {
    const isAsked = name === '' || name === 'help' || name === '--help' || command !== undefined;
    if (isAsked) terminal.out(command ? helpFor(name, command) : helpAll());
    else terminal.err(`causeway: there is no command "${name}"\n`);
    return isAsked ? 0 : 2;
  }
  try {
    const { values, words } = readOptions(command, rest);
    const apiKey = values.key ?? terminal.env.CAUSEWAY_KEY;
    if (!apiKey) throw new UsageError('--key is required, or CAUSEWAY_KEY in the environment');
    const baseUrl = webUrl('url', values.url ?? terminal.env.CAUSEWAY_URL ?? 'http://localhost:8080');
    await command.run(createClient({ baseUrl, apiKey }), values, words, terminal);
    return 0;
  } catch (error) {
    if (terminal.signal.aborted) return 0;
    if (error instanceof UsageError) {
      terminal.err(`causeway: ${error.message}\nUsage: causeway ${name} ${command.usage}\n`);
      return 2;
    }
    if (!(error instanceof CausewayError)) throw error;
    terminal.err(`causeway: ${error.message}\n`);
    return 1;
  }
};

/** Aborts at the first Ctrl-C; the second one ends the process. */
export const untilStopped = (): AbortSignal => {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
};

const readOptions = (command: DeveloperCommand, args: readonly string[]) => {
  const names = Object.keys({ ...command.options, ...shared });
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
      allowPositionals: true,
    });
    return { values: values as Options, words: positionals };
  } catch (error) {
    const [reason = ''] = (error as Error).message.split(/[.;](?:\s|$)/);
    throw new UsageError(reason.charAt(0).toLowerCase() + reason.slice(1));
  }
};

const helpAll = (): string =>
  `Causeway for developers, with an API key.\n\n${columns(Object.entries(developerCommands).map(([name, { about }]) => [`  ${name}`, about]))}\n`;

const helpFor = (name: string, { about, usage, options, notes }: DeveloperCommand): string => {
  const rows = Object.entries({ ...options, ...shared });
  const shown = rows.map(([option, [value, text]]) => [`  --${option} ${value}`, text] as const);
  return `${about}.\n\nUsage: causeway ${name} ${usage}\n\n${columns(shown)}\n\n${notes.join('\n')}\n`;
};

const columns = (rows: readonly (readonly [string, string])[] | readonly string[][]): string => {
  const width = Math.max(...rows.map(([first]) => first!.length));
  return rows.map(([first, second]) => `${first!.padEnd(width)}  ${second}`).join('\n');
};
