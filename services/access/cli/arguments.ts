import { parseArgs } from 'node:util';
import { type Command, commands, type Values } from './commands.ts';
import { UsageError } from './usage-error.ts';

export type Request =
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
