import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnGuarded } from '../../deploy/local/guarded.ts';
import { readStack, type Stack } from '../../deploy/local/home.ts';
import { type MysqlSizes, startMysql } from '../../deploy/local/servers.ts';
import type { MysqldProgram, Program } from '../../deploy/local/toolchain.ts';
import type { Processes } from './cpu.ts';

/** The tools and options of every bench. */
export interface BenchContext {
  readonly env: NodeJS.ProcessEnv;
  /** Servers that only the bench uses, so that nothing else affects the measurement. */
  readonly toolchain: { readonly mysqld: MysqldProgram; readonly natsServer: Program };
  /** Finds or downloads programs that only benches need; the Debian package by program. */
  programs<Name extends string>(
    wanted: Readonly<Record<Name, string>>,
  ): Promise<Readonly<Record<Name, Program>>>;
  /** Registers cleanup that runs however the bench ends, in reverse order. */
  readonly onEnd: OnEnd;
  /** Reports progress on stderr. */
  readonly say: (line: string) => void;
  readonly options: BenchOptions;
}

export interface BenchOptions {
  readonly rounds: number;
  readonly seconds: number;
  /** Length of a soak; how many minutes a batch's people are worth at the default limits. */
  readonly minutes: number;
  /** Requests per second of a soak, instead of a share of the highest rate. */
  readonly rate: number | undefined;
  /** The lookup to request: `employees` or `client-statuses`. */
  readonly path: string;
  /** Whether to write the figures to `RESULTS.md`. */
  readonly write: boolean;
  /** Another checkout, to measure in alternate turns. */
  readonly beside: string | undefined;
  /** Folder of a database that is kept, for the next run of the bench. */
  readonly data: string | undefined;
  /** Passed on to `npm start`. */
  readonly startArgs: readonly string[];
}

/** Registers a cleanup. */
type OnEnd = (end: () => Promise<void>) => void;

/** A set of cleanups that run together, in reverse order. */
export interface Ends {
  readonly onEnd: OnEnd;
  /** May be called more than once; each call resolves when all cleanups have run. */
  end(): Promise<void>;
}

export const makeEnds = (): Ends => {
  const ends: (() => Promise<void>)[] = [];
  let ending: Promise<void> | undefined;
  return {
    onEnd: (end) => ends.push(end),
    end: () => {
      ending ??= (async () => {
        for (let end = ends.pop(); end; end = ends.pop()) await end();
      })();
      return ending;
    },
  };
};

/** Creates a folder that is removed at the end. */
export const makeHome = (onEnd: OnEnd): string => {
  const home = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
  onEnd(async () => rmSync(home, { recursive: true, force: true }));
  return home;
};

/** A program started by a bench. The kernel ends it (SIGTERM) if the bench dies. */
interface Child {
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

/** A cluster started by a bench, on a MySQL server of its own. */
export interface BenchCluster {
  readonly stack: Stack;
  /** The processes of the cluster and its supervisor, without MySQL. */
  readonly processes: Processes;
}

const ownRoot = resolve(import.meta.dirname, '../..');

/** Starts a MySQL server for the bench; it ends with the bench. */
export const startBenchMysql = async (
  home: string,
  program: MysqldProgram,
  onEnd: OnEnd,
  sizes: MysqlSizes = {},
): Promise<{ readonly url: string; readonly pid: number }> => {
  for (const name of ['mysql', 'cluster', 'logs']) mkdirSync(join(home, name), { recursive: true });
  const mysql = await startMysql({ home: join(home, 'mysql'), program, ...sizes });
  onEnd(() => mysql.stop());
  return mysql;
};

/** Starts the cluster as `npm start` does. @param env includes the `MYSQL_URL` to use. */
export const startBenchCluster = async ({
  root = ownRoot,
  home,
  env,
  port,
  args,
  onEnd,
}: BenchClusterOptions): Promise<BenchCluster> => {
  const stackHome = join(home, 'cluster');
  const supervisor = await startChild({
    name: 'the cluster',
    command: process.execPath,
    args: [join(root, 'deploy/local/start.ts'), '--port', `${port}`, ...args],
    env: { ...env, STACK_HOME: stackHome },
    logFile: join(home, 'logs', 'start.log'),
  });
  onEnd(() => supervisor.stop());
  const stack = await supervisor.until(() => readStack(stackHome));
  return {
    stack,
    processes: new Map([
      ...stack.processes.flatMap(({ name, pid }) => (pid === null ? [] : [[name, pid] as const])),
      ['supervisor', supervisor.pid],
    ]),
  };
};

interface BenchClusterOptions {
  /** The checkout whose cluster to start; the running one's by default. */
  readonly root?: string | undefined;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly port: number;
  /** Additional arguments of `npm start`, such as `--gateways 2`. */
  readonly args: readonly string[];
  readonly onEnd: OnEnd;
}
