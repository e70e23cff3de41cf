import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

/** The kernel kills it when the test's process dies. */
export interface TestProgram {
  readonly child: ChildProcess;
  isRunning(): boolean;
  /** @returns its exit code, or null if a signal ended it */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

export const startProgram = (
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): TestProgram => {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', command, ...args], options);
  const exited = new Promise<void>((resolve) =>
    child.once('exit', () => resolve()).once('error', () => resolve()),
  );
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  return {
    child,
    isRunning,
    end: async (signal) => {
      if (isRunning()) child.kill(signal);
      await exited;
      return child.exitCode;
    },
  };
};
