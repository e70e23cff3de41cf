import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

/** A program started by a bench. The kernel ends it (SIGTERM) if the bench dies. */
export interface Child {
  readonly pid: number;
  /** Resolves with the first value that `look` returns. @throws with the end of the log if the program exits first. */
  until<Value>(look: () => Promise<Value | undefined> | Value | undefined): Promise<Value>;
  /** Sends SIGTERM, and resolves when the program has exited. */
  stop(): Promise<void>;
}

const lookEveryMs = 20;

export const startChild = async ({ name, command, args, env, logFile }: ChildOptions): Promise<Child> => {
  const log = openSync(logFile, 'a', 0o600);
  const child: ChildProcess = spawn('setpriv', ['--pdeathsig', 'TERM', command, ...args], {
    env: env ?? {},
    // A session of its own: Ctrl-C in a terminal then reaches only the bench, which stops programs in order.
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  return {
    pid: child.pid as number,
    until: async (look) => {
      for (;;) {
        const value = await look();
        if (value !== undefined) return value;
        if (hasExited()) {
          const words = readFileSync(logFile, 'utf8').trim().split('\n').slice(-12).join('\n');
          throw new Error(`${name} ended before it was ready:\n${words}`);
        }
        await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
      }
    },
    stop: async () => {
      if (!hasExited()) child.kill('SIGTERM');
      await exited;
    },
  };
};

interface ChildOptions {
  /** Its name in errors. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment: nothing is inherited. */
  readonly env?: NodeJS.ProcessEnv;
  readonly logFile: string;
}
