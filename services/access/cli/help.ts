import { type Command, commands } from './commands.ts';
import { columns } from './layout.ts';

const program = 'npm run -s causeway --';

export const helpAll = (): string =>
  `Causeway's operator: companies, API keys, limits, secrets.

Usage: ${program} <command> [options]

${columns(commands.map((command) => [`  ${command.words.join(' ')}`, command.about]))}

Every command takes --json (one JSON object on standard output) and --help (its options).
The cluster is the running one of STACK_HOME (.stack), or the one that NATS_URL names.
Exit status: 0 done, 1 refused or not reachable, 2 not understood.
`;

export const helpFor = (command: Command): string => {
  const options = Object.entries({
    ...command.options,
    json: { about: 'print one JSON object' },
    help: { about: 'print this' },
  }).map(([name, option]) => [`  --${name}${'value' in option ? ` ${option.value}` : ''}`, option.about]);
  const notes = command.notes ? `\n${command.notes.join('\n')}\n` : '';
  return `${command.about}.

Usage: ${program} ${usageOf(command)}

${columns(options)}
${notes}`;
};

/** Where to read more after a wrong command line. */
export const hintFor = (args: readonly string[]): string => {
  const known = commands.some(({ words }) => words[0] === args[0] && words[1] === args[1]);
  return `${program} ${known ? `${args[0]} ${args[1]} ` : ''}--help`;
};

const usageOf = ({ words, usage, options }: Command): string =>
  [...words, usage ?? optionsOf(options)].join(' ');

const optionsOf = (options: Command['options']): string =>
  Object.entries(options)
    .map(([name, { value, required }]) => {
      const text = value ? `--${name} ${value}` : `--${name}`;
      return required ? text : `[${text}]`;
    })
    .join(' ');
