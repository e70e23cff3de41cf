import { parseArgs } from 'node:util';
import { SetupError } from './setup-error.ts';

export interface Counts {
  readonly gateway: number;
  readonly access: number;
  readonly crm: number;
  readonly webhooks: number;
  readonly dispatcher: number;
  readonly agents: 1;
}

export interface StartOptions {
  readonly port: number;
  readonly counts: Counts;
  /** From three on, each stream has three copies. */
  readonly nats: number;
  readonly together: boolean;
  readonly detach: boolean;
  readonly watch: boolean;
  readonly help: boolean;
}

export const usage = `Usage: npm start -- [options]

  --port N           where the interface listens on this machine (8080)
  --gateways N       gateway processes, sharing the port (1)
  --access N         processes of access: companies, keys (1)
  --crm N            processes of crm: lookups, record actions (1)
  --webhooks N       processes of webhooks: subscriptions, events (1)
  --dispatchers N    processes that send deliveries (1)
  --nats N           NATS servers (1); with 3, any one of them may go away
  --together         all services in one process, a thread each: 250 MB less
  --detach           return when ready and keep running; \`npm stop\` ends it
  --watch            restart what a changed source file belongs to; \`npm run dev\` sets it
  --help             this text

Environment
  STACK_HOME         data, logs and stack.json (.stack); each folder is a stack of its own
  MYSQL_URL          a MySQL server to use instead of starting one
  NATS_URL           a NATS server to use instead of starting one
  CAUSEWAY_CACHE     downloaded programs (~/.cache/causeway)
  Every other setting of the services (RATE_LIMIT_READ, LOG_LEVEL …) is passed on to them.
`;

const flags = {
  port: { type: 'string', default: '8080' },
  gateways: { type: 'string', default: '1' },
  access: { type: 'string', default: '1' },
  crm: { type: 'string', default: '1' },
  webhooks: { type: 'string', default: '1' },
  dispatchers: { type: 'string', default: '1' },
  nats: { type: 'string', default: '1' },
  together: { type: 'boolean', default: false },
  detach: { type: 'boolean', default: false },
  watch: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

export const parseOptions = (args: readonly string[]): StartOptions => {
  const { values } = parse(args);
  const number = (name: keyof typeof values, min: number, max: number): number => {
    const text = String(values[name]);
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new SetupError(`--${name} takes a whole number from ${min} to ${max}, not "${text}".`);
  };
  return {
    port: number('port', 1, 65535),
    counts: {
      gateway: number('gateways', 1, 32),
      access: number('access', 1, 32),
      crm: number('crm', 1, 32),
      webhooks: number('webhooks', 1, 32),
      dispatcher: number('dispatchers', 1, 32),
      agents: 1,
    },
    nats: number('nats', 1, 5),
    together: values.together,
    detach: values.detach,
    watch: values.watch,
    help: values.help,
  };
};

const parse = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options: flags, strict: true, allowPositionals: false });
  } catch (error) {
    const [reason] = (error as Error).message.split(/\.(?:\s|$)/);
    throw new SetupError(`${reason}; \`npm start -- --help\` lists the options.`);
  }
};
