import { join, resolve } from 'node:path';
import { migrate } from '@causeway/runtime';
import { freePort } from '../../../deploy/local/ports.ts';
import type { Program } from '../../../deploy/local/toolchain.ts';
import { startChild } from '../children.ts';
import { startBenchCluster, startBenchMysql } from '../cluster.ts';
import type { BenchContext } from '../context.ts';
import type { Processes } from '../cpu.ts';
import type { TrafficSources } from './batching.ts';
import { type Data, fillDatabase } from './data.ts';

/** One of the two systems under measurement. */
export interface System {
  readonly name: 'cluster' | 'monolith';
  readonly baseUrl: string;
}

/** Both systems, running on one MySQL with the same data. */
export interface World {
  readonly cluster: System;
  readonly monolith: System;
  readonly data: Data;
  readonly mysqlUrl: string;
  /** Metrics URLs for the messages of the cluster. */
  readonly traffic: TrafficSources;
  /** All processes of both systems whose CPU time is reported. */
  readonly processes: Processes;
}

const root = resolve(import.meta.dirname, '../../..');
/** High enough to admit the whole load; every request is still counted. */
const limit = '10000000';

export const startWorld = async (
  { env, toolchain, options, onEnd }: BenchContext,
  { home, redis, clusterEnv }: WorldOptions,
): Promise<World> => {
  const mysql = await startBenchMysql(home, toolchain.mysqld, onEnd);
  await migrate(
    mysql.url,
    ['access', 'crm'].map((name) => ({ name, folder: join(root, 'services', name, 'migrations') })),
  );
  const data = await fillDatabase(mysql.url);
  const common = { ...env, MYSQL_URL: mysql.url, RATE_LIMIT_READ: limit, RATE_LIMIT_WRITE: limit };

  const cluster = await startBenchCluster({
    home,
    env: { ...common, ...clusterEnv },
    port: await freePort(),
    args: options.startArgs,
    onEnd,
  });
  const [natsMonitor = ''] = cluster.metricsOf('nats');

  const redisPort = await freePort();
  const redisServer = await startChild({
    name: 'Redis',
    command: redis.command,
    // Without persistence, for the fastest possible Redis.
    args: [
      ...redis.args,
      '--bind',
      '127.0.0.1',
      '--port',
      `${redisPort}`,
      '--save',
      '',
      '--appendonly',
      'no',
    ],
    logFile: join(home, 'logs', 'redis.log'),
  });
  onEnd(() => redisServer.stop());
  const monolithPort = await freePort();
  const monolithUrl = `http://127.0.0.1:${monolithPort}`;
  const monolith = await startChild({
    name: 'the monolith',
    command: process.execPath,
    args: [join(import.meta.dirname, '../monolith/main.ts')],
    env: { ...common, REDIS_URL: `redis://127.0.0.1:${redisPort}`, PORT: `${monolithPort}` },
    logFile: join(home, 'logs', 'monolith.log'),
  });
  onEnd(() => monolith.stop());
  await monolith.until(() => answers(monolithUrl));

  return {
    cluster: { name: 'cluster', baseUrl: cluster.stack.baseUrl },
    monolith: { name: 'monolith', baseUrl: monolithUrl },
    data,
    mysqlUrl: mysql.url,
    traffic: {
      gatewayMetrics: cluster.metricsOf('gateway-'),
      crmMetrics: cluster.metricsOf('crm-'),
      natsMonitor,
    },
    processes: new Map([
      ...cluster.processes,
      ['monolith', monolith.pid],
      ['redis', redisServer.pid],
      ['mysql', mysql.pid],
    ]),
  };
};

const answers = async (url: string): Promise<true | undefined> =>
  fetch(url).then(
    () => true as const,
    () => undefined,
  );

interface WorldOptions {
  readonly home: string;
  readonly redis: Program;
  /** Only for the cluster. */
  readonly clusterEnv: NodeJS.ProcessEnv;
}
