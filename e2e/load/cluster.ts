import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startMysql } from '../../deploy/local/servers.ts';
import { readStack, type Stack } from '../../deploy/local/stack.ts';
import type { MysqldProgram } from '../../deploy/local/toolchain.ts';
import { startChild } from './children.ts';
import type { Processes } from './cpu.ts';
import type { OnEnd } from './ends.ts';

/** A cluster started by a bench, on a MySQL server of its own. */
export interface BenchCluster {
  readonly stack: Stack;
  /** The processes of the cluster and its supervisor, without MySQL. */
  readonly processes: Processes;
  /** The metrics URLs of the processes whose name starts with `start`. */
  metricsOf(start: string): readonly string[];
}

const ownRoot = resolve(import.meta.dirname, '../..');

/** Starts a MySQL server for the bench; it ends with the bench. */
export const startBenchMysql = async (
  home: string,
  program: MysqldProgram,
  onEnd: OnEnd,
): Promise<{ readonly url: string; readonly pid: number }> => {
  for (const name of ['mysql', 'cluster', 'logs']) mkdirSync(join(home, name), { recursive: true });
  const mysql = await startMysql({ home: join(home, 'mysql'), program });
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
    metricsOf: (start) =>
      stack.processes.flatMap(({ name, metricsUrl }) =>
        name.startsWith(start) && metricsUrl ? [metricsUrl] : [],
      ),
  };
};

export interface BenchClusterOptions {
  /** The checkout whose cluster to start; this one by default. */
  readonly root?: string | undefined;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly port: number;
  /** Additional arguments of `npm start`, such as `--gateways 2`. */
  readonly args: readonly string[];
  readonly onEnd: OnEnd;
}
