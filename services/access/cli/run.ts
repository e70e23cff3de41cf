import { join } from 'node:path';
import { type Request, readArguments } from './arguments.ts';
import type { Body } from './commands.ts';
import { helpAll, helpFor, hintFor } from './help.ts';
import { generatePassword, passwordFromInput } from './password.ts';
import { UsageError } from './usage-error.ts';

const root = join(import.meta.dirname, '../../..');

/** Where a command reads its settings and writes what it says. */
export interface Terminal {
  /** By default that of the process. */
  readonly env?: NodeJS.ProcessEnv;
  out(text: string): void;
  err(text: string): void;
}

const ofProcess: Terminal = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
};

/**
 * Runs one command line. It loads heavy modules only to call a cluster, so that help and usage errors appear at once.
 * @returns the exit status: 0 done, 1 refused or not reachable, 2 not understood.
 */
export const run = async (args: readonly string[], terminal = ofProcess): Promise<number> => {
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

const ask = async (
  { command, values, json }: Extract<Request, { kind: 'run' }>,
  terminal: Terminal,
): Promise<number> => {
  const refuse = (sentence: string): number => {
    terminal.err(`causeway: ${sentence}\n`);
    return 1;
  };
  const password = await passwordFor(values['password-stdin'], command.operation);
  const body = command.body({ ...values, ...password?.sent });
  const [{ readEnv }, { call, findCluster, Unreachable }, { printers }] = await Promise.all([
    import('@causeway/runtime/client'),
    import('./cluster.ts'),
    import('./print.ts'),
  ]);
  try {
    const cluster = findCluster(terminal.env ?? readEnv(), root);
    const { operation, lane = 'operator', parts } = command;
    let answer: Body | undefined;
    for (let next: Body | undefined = body; next; next = parts?.next(answer)) {
      const { status, body: latest } = await call(cluster, lane, operation, next);
      if (status >= 400) return refuse(sentenceOf(latest));
      answer = answer ? (parts?.join(answer, latest) ?? latest) : latest;
    }
    const shown = { ...answer, ...password?.shown };
    const print = printers[command.operation] as (answer: unknown) => string;
    terminal.out(`${json ? JSON.stringify(shown) : print(shown)}\n`);
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
