import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Program } from '../../../deploy/local/toolchain.ts';
import { type Cpu, parseCpu } from '../cpu.ts';

/** One run of the load generator. */
export interface Load {
  /** Answers received. At the end, up to one request per connection may be in flight and is not included. */
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Answers that were not 2xx or 3xx. */
  readonly statusErrors: number;
  readonly socketErrors: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the load generator itself. */
  readonly cpu: Cpu;
}

const walkKeys = join(import.meta.dirname, 'walk-keys.lua');

/** Sends requests to `url` as fast as they are answered, over keep-alive connections, using the keys in turn. */
export const runWrk = async (options: WrkOptions): Promise<Load> => {
  const { wrk, url, connections, seconds } = options;
  const [script, ...args] = options.script ?? [walkKeys, options.keysFile, `${options.firstKey}`];
  const { stdout } = await promisify(execFile)(wrk.command, [
    ...wrk.args,
    ...['--threads', '1', '--connections', `${connections}`, '--duration', `${seconds}s`, '--timeout', '5s'],
    ...['--script', script, url, '--', ...args],
  ]);
  const found = /^result (.+)\nstat (.+)$/m.exec(stdout);
  if (!found) throw new Error(`wrk printed no result:\n${stdout}`);
  const result = JSON.parse(found[1] ?? '') as Record<string, number>;
  const figure = (name: string): number => result[name] ?? Number.NaN;
  return {
    requests: figure('requests'),
    requestsPerSecond: figure('requests') / (figure('elapsedUs') / 1e6),
    statusErrors: figure('statusErrors'),
    socketErrors: figure('socketErrors'),
    p50Ms: figure('p50Us') / 1000,
    p99Ms: figure('p99Us') / 1000,
    cpu: parseCpu(found[2] ?? ''),
  };
};

interface WrkOptions {
  readonly wrk: Program;
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** One API key per line. */
  readonly keysFile: string;
  readonly firstKey: number;
  /** A script with its arguments; by default wrk sends GET requests. */
  readonly script?: readonly [file: string, ...args: string[]];
}
