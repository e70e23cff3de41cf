import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError } from './setup-error.ts';

export const homeOf = (env: NodeJS.ProcessEnv, root: string): string =>
  resolve(root, env.STACK_HOME || '.stack');

export const stackMark = 'CAUSEWAY_STACK';

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

/** Undefined if another process holds the lock. The kernel releases it however this process ends. */
export const claim = async (home: string): Promise<(() => void) | undefined> => {
  const holder = spawn('flock', ['--nonblock', join(home, 'lock'), 'sh', '-c', 'echo held; exec cat'], {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const held = await Promise.race([
    once(holder.stdout, 'data').then(() => true),
    once(holder, 'exit').then(() => false),
  ]);
  if (!held) return undefined;
  writeFileSync(join(home, 'supervisor.pid'), String(process.pid), { mode: 0o600 });
  return () => holder.stdin.end();
};

export const supervisorOf = (home: string): number =>
  Number(readFileSync(join(home, 'supervisor.pid'), 'utf8'));

export const endLeftovers = async (home: string, graceMs: number): Promise<void> => {
  const endMs = Date.now() + graceMs;
  for (let left = processesOf(home); left.length > 0; left = processesOf(home)) {
    for (const pid of left) {
      try {
        process.kill(pid, Date.now() > endMs ? 'SIGKILL' : 'SIGTERM');
      } catch {}
    }
    await sleep(50);
  }
};

const processesOf = (home: string): number[] =>
  readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const marks = readFileSync(`/proc/${name}/environ`, 'utf8').split('\0');
      return marks.includes(`${stackMark}=${home}`) ? [Number(name)] : [];
    } catch {
      return []; // Ended, or somebody else's.
    }
  });

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
