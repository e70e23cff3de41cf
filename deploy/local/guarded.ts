import { spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readEnv } from '@causeway/runtime/client';

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

/** In the environment of a program: the folder that it works in, so that the next start finds what a killed one has left. */
export const stackMark = 'CAUSEWAY_STACK';

export const envIn = (home: string): NodeJS.ProcessEnv => ({ ...readEnv(), [stackMark]: home });

/** Ends the programs of an earlier, killed start, with SIGKILL after `graceMs`. */
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
