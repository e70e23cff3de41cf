import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SetupError } from './setup-error.ts';
import { lock } from './toolchain/lock.mjs';

export const homeOf = (env: NodeJS.ProcessEnv, root: string): string =>
  resolve(root, env.STACK_HOME || '.stack');

export const prepareHome = (home: string): void => {
  try {
    for (const folder of ['logs', 'mysql', 'nats'])
      mkdirSync(join(home, folder), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new SetupError(
      `${home} cannot be written (${(error as NodeJS.ErrnoException).code}): set STACK_HOME to a folder of your own.`,
    );
  }
};

/** Undefined if another process holds the lock. */
export const claim = async (home: string): Promise<(() => void) | undefined> => {
  const release = await lock(join(home, 'lock'), '--nonblock');
  if (release) writeFileSync(join(home, 'supervisor.pid'), String(process.pid), { mode: 0o600 });
  return release;
};

export const supervisorOf = (home: string): number =>
  Number(readFileSync(join(home, 'supervisor.pid'), 'utf8'));

export interface Stack {
  readonly baseUrl: string;
  readonly portalUrl: string;
  readonly apiKey: string;
  readonly portalEmail: string;
  readonly portalPassword: string;
  readonly receiverUrl: string;
  readonly inboxUrl: string;
  /** Where the gateways find `agents`, which starts at the first call. */
  readonly agentsUrl: string;
  readonly mysqlUrl: string;
  readonly natsUrl: string;
  readonly processes: readonly StackProcess[];
}

export interface StackProcess {
  readonly name: string;
  readonly pid: number | null;
  readonly metricsUrl: string | null;
}

const fileIn = (home: string): string => join(home, 'stack.json');

/** Written atomically; readable by its owner only. */
export const writeStack = (home: string, stack: Stack): void => {
  const fresh = `${fileIn(home)}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(stack, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(fresh, fileIn(home));
};

export const readStack = (home: string): Stack | undefined => {
  try {
    return JSON.parse(readFileSync(fileIn(home), 'utf8')) as Stack;
  } catch {
    return undefined;
  }
};

export const removeStack = (home: string): void => rmSync(fileIn(home), { force: true });
