import { existsSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnGuarded } from './guarded.ts';
import { SetupError } from './setup-error.ts';

export interface Run {
  readonly pid: number;
  readonly ready: Promise<string | null>;
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

export interface Kept {
  readonly name: string;
  /** Settles when the first run is ready, or has ended before. */
  readonly ready: Promise<void>;
  pid(): number | null;
  metricsUrl(): string | null;
  /** Resolves when the current run has ended; the next one starts at once. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface KeepOptions {
  readonly name: string;
  readonly launch: () => Promise<Run>;
  readonly changed: () => void;
  readonly say: (line: string) => void;
  readonly delays?: Delays;
}

interface Delays {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly healthyMs: number;
}

const usualDelays: Delays = { firstMs: 100, lastMs: 5_000, healthyMs: 10_000 };

/** Restarts a program whenever it ends. If the first run ends before it is ready, `ready` fails instead. */
export const keep = ({ name, launch, changed, say, delays = usualDelays }: KeepOptions): Kept => {
  const stopping = new AbortController();
  let restarting = new AbortController();
  let run: Run | undefined;
  let metricsUrl: string | null = null;

  const start = async (): Promise<void> => {
    run = undefined;
    metricsUrl = null;
    run = await launch();
    if (stopping.signal.aborted || restarting.signal.aborted) return run.stop();
    changed();
    metricsUrl = await run.ready;
    changed();
  };

  const live = async (): Promise<void> => {
    let delayMs = delays.firstMs;
    let startedMs = Date.now();
    while (!stopping.signal.aborted) {
      const how = run ? await run.exited : 'could not be started';
      if (stopping.signal.aborted) return;
      if (Date.now() - startedMs >= delays.healthyMs) delayMs = delays.firstMs;
      if (!restarting.signal.aborted) {
        say(`${name} ended (${how}); restarting in ${delayMs} ms`);
        const signal = AbortSignal.any([stopping.signal, restarting.signal]);
        await sleep(delayMs, undefined, { signal }).catch(() => {});
        if (stopping.signal.aborted) return;
      }
      delayMs = restarting.signal.aborted ? delays.firstMs : Math.min(delayMs * 2, delays.lastMs);
      restarting = new AbortController();
      startedMs = Date.now();
      await start().catch(
        (error: Error) => stopping.signal.aborted || restarting.signal.aborted || say(error.message),
      );
      if (metricsUrl === null) await readyOrStopped(run);
    }
  };

  const ready = start();
  const life = ready.then(live, () => run?.stop());
  return {
    name,
    ready,
    pid: () => run?.pid ?? null,
    metricsUrl: () => metricsUrl,
    restart: async () => {
      restarting.abort();
      await run?.stop();
    },
    stop: async () => {
      stopping.abort();
      await run?.stop();
      await life;
    },
  };
};

const readyOrStopped = async (run: Run | undefined): Promise<void> => {
  await run?.ready.catch(() => run.stop());
};

/** A service normally ends well before (DRAIN_TIMEOUT_MS). */
const stopGraceMs = 35_000;
const readyTimeoutMs = 60_000;

/**
 * V8 counts buffers against a small heap: for 100 bodies of 1 MiB a service took 1.8 s of processor time,
 * with these flags 0.5 s, for 90 MiB more memory.
 */
export const nodeFlags = [
  '--external-memory-accounted-in-global-limit',
  '--initial-old-space-size=96',
  '--enable-source-maps',
] as const;

/**
 * glibc keeps what was freed, for each thread apart: 120 MB of the services at rest. So threads share, and large blocks go back. The
 * images set the same.
 */
export const allocation = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' } as const;

/** The process reports over IPC when it is ready, and ends when this process is gone. */
export const runService = async (options: ServiceRunOptions): Promise<Run> => {
  const { name, entry, services = 1, env, logFile } = options;
  const logStart = existsSync(logFile) ? statSync(logFile).size : 0;
  const { promise: ready, resolve, reject } = Promise.withResolvers<string | null>();
  let readyCount = 0;
  const program = await spawnGuarded({
    command: process.execPath,
    args: [...nodeFlags, entry],
    env: { ...allocation, ...env },
    logFile,
    onMessage: (message) => isReady(message) && ++readyCount >= services && resolve(message.metricsUrl),
  });
  const fail = (reason: string) =>
    reject(new SetupError(`${name} ${reason}; its log is ${logFile}.`, { cause: tail(logFile, logStart) }));
  const timer = setTimeout(() => fail(`was not ready after ${readyTimeoutMs / 1000} s`), readyTimeoutMs);
  void ready.catch(() => {}).finally(() => clearTimeout(timer));
  const exited = program.exited.then(({ code, signal }) => signal ?? `code ${code}`);
  void exited.then((how) => fail(`ended (${how}) before it was ready`));
  return { pid: program.pid, ready, exited, stop: () => program.stop(stopGraceMs) };
};

interface ServiceRunOptions {
  readonly name: string;
  readonly entry: string;
  /** How many of them tell that they are ready. */
  readonly services?: number;
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: string;
}

const isReady = (message: unknown): message is { metricsUrl: string | null } =>
  typeof message === 'object' && message !== null && 'type' in message && message.type === 'ready';

const tail = (file: string, from: number): string =>
  readFileSync(file).subarray(from).toString().trim().split('\n').slice(-20).join('\n');
