import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Guarded {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  hasExited(): boolean;
  /** Sends SIGTERM, and SIGKILL after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * Outside of the terminal's session, so that Ctrl-C does not reach it; the kernel ends it with this process.
 * @param logFile receives both outputs, appended.
 */
export const spawnGuarded = async (options: GuardedOptions): Promise<Guarded> => {
  const { command, args, env, logFile, onMessage } = options;
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', command, ...args], {
    env,
    detached: true,
    stdio: ['ignore', log, log, ...(onMessage ? ['ipc' as const] : [])],
  });
  closeSync(log);
  if (onMessage) child.on('message', onMessage);
  let ended = false;
  const exited = new Promise<Exit>((resolve) =>
    child.once('exit', (code, signal) => {
      ended = true;
      resolve({ code, signal });
    }),
  );
  await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  const pid = child.pid as number;
  return {
    pid,
    exited,
    hasExited: () => ended,
    stop: async (graceMs) => {
      if (ended) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await exited;
      clearTimeout(timer);
    },
  };
};

interface GuardedOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly logFile: string;
  readonly onMessage?: (message: unknown) => void;
}

/** Waits for a program of an earlier, killed start. @param mark text in its command line: ids are reused. */
export const outwait = async (pidFile: string, mark: string, graceMs: number): Promise<void> => {
  const pid = readPid(pidFile);
  if (pid === undefined || !isRunning(pid, mark)) return;
  signal(pid, 'SIGTERM');
  for (const endMs = Date.now() + graceMs; isRunning(pid, mark); await sleep(50)) {
    if (Date.now() > endMs) signal(pid, 'SIGKILL');
  }
};

const readPid = (file: string): number | undefined => {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    return pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
};

const isRunning = (pid: number, mark: string): boolean => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
  } catch {
    return false;
  }
};

const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch {}
};
