import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startMysql } from '../../deploy/local/servers.ts';
import { readStack, type Stack } from '../../deploy/local/stack.ts';
import type { MysqldProgram } from '../../deploy/local/toolchain.ts';
import { startChild } from './children.ts';
import type { Processes } from './cpu.ts';
import type { OnEnd } from './ends.ts';

/** A cluster that a bench has started, on a MySQL of the bench's own. */
export interface BenchCluster {
  readonly stack: Stack;
  /** Its processes and the supervisor, without MySQL. */
  readonly processes: Processes;
  /** Where the processes whose name begins so tell their metrics. */
  metricsOf(start: string): readonly string[];
}

const root = resolve(import.meta.dirname, '../..');

/** A MySQL of the bench's own, ended with the bench. */
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

/** Starts the cluster as `npm start` does. @param env with the `MYSQL_URL` it shall use. */
export const startBenchCluster = async ({
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
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly port: number;
  /** More arguments of `npm start`, such as `--gateways 2`. */
  readonly args: readonly string[];
  readonly onEnd: OnEnd;
}
