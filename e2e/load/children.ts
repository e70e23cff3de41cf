import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnGuarded } from '../../deploy/local/guarded.ts';

/** A program started by a bench. The kernel ends it (SIGTERM) if the bench dies. */
export interface Child {
  readonly pid: number;
  /** Resolves with the first value that `look` returns. @throws with the end of the log if the program exits first. */
  until<Value>(look: () => Promise<Value | undefined> | Value | undefined): Promise<Value>;
  /** Sends SIGTERM, and resolves when the program has exited. */
  stop(): Promise<void>;
}

export const startChild = async ({
  name,
  command,
  args,
  env = {},
  logFile,
}: ChildOptions): Promise<Child> => {
  const { pid, hasExited, stop } = await spawnGuarded({ command, args, env, logFile });
  return {
    pid,
    until: async (look) => {
      for (;;) {
        const value = await look();
        if (value !== undefined) return value;
        if (hasExited()) {
          const words = readFileSync(logFile, 'utf8').trim().split('\n').slice(-12).join('\n');
          throw new Error(`${name} ended before it was ready:\n${words}`);
        }
        await sleep(lookEveryMs);
      }
    },
    stop: () => stop(stopGraceMs),
  };
};

const lookEveryMs = 20;
/** A cluster drains its services before it ends. */
const stopGraceMs = 120_000;

interface ChildOptions {
  /** Its name in errors. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment: nothing is inherited. */
  readonly env?: NodeJS.ProcessEnv;
  readonly logFile: string;
}
