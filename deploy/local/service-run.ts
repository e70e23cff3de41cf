import { existsSync, readFileSync, statSync } from 'node:fs';
import { spawnGuarded } from './guarded.ts';
import { SetupError } from './setup-error.ts';
import type { Run } from './supervisor.ts';

/** A service may drain this long before it is killed; it normally ends well before (DRAIN_TIMEOUT_MS). */
const stopGraceMs = 35_000;
const readyTimeoutMs = 60_000;

/**
 * How services run on Node, here and in the image. Bodies and frames are buffers outside of V8's heap. By default, V8
 * counts them against a small heap: 20 bodies of 1 MiB a second then cost a service more time in garbage collection than
 * in anything else (1.8 s of processor time for 100 of them, with these flags 0.5 s), for about 90 MiB less memory.
 */
export const nodeFlags = [
  '--external-memory-accounted-in-global-limit',
  '--initial-old-space-size=96',
] as const;

/**
 * Runs one process of a service on this Node. The process reports over IPC when it is ready. It ends by itself when
 * this process is gone; if it is too busy to notice, the kernel sends it SIGTERM.
 */
export const runService = async ({
  name,
  entry,
  args = [],
  env,
  logFile,
}: ServiceRunOptions): Promise<Run> => {
  const logStart = existsSync(logFile) ? statSync(logFile).size : 0;
  const { promise: ready, resolve, reject } = Promise.withResolvers<string | null>();
  const program = await spawnGuarded({
    command: process.execPath,
    args: [...nodeFlags, entry, ...args],
    env,
    logFile,
    onMessage: (message) => isReady(message) && resolve(message.metricsUrl),
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
  readonly args?: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: string;
}

const isReady = (message: unknown): message is { metricsUrl: string | null } =>
  typeof message === 'object' && message !== null && 'type' in message && message.type === 'ready';

const tail = (file: string, from: number): string =>
  readFileSync(file).subarray(from).toString().trim().split('\n').slice(-20).join('\n');
