import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseMysqlUrl } from '@causeway/runtime';
import { createConnection } from 'mysql2/promise';
import { freePorts } from '../../local/ports.ts';
import type { MysqldProgram, Program } from '../../local/toolchain.ts';
import { isOk, openProcesses, type Started } from './processes.ts';
import { startTablet, type Tablet } from './tablet.ts';

export const clusterPrograms = ['vtgate', 'vttablet', 'vtctldclient', 'vtctld'] as const;

export interface VitessCluster {
  /** Of vtgate, as a service's MYSQL_URL, with the sharded keyspace as its database. */
  readonly url: string;
  addShard(keyspace: string, shard: string): Promise<Tablet>;
  /** Call it once all keyspaces have their tables and vschemas. */
  startGate(): Promise<void>;
  /** @returns its output */
  control(...args: string[]): Promise<string>;
  /** @returns its path */
  document(name: string, content: unknown): string;
  plans(): Promise<readonly Plan[]>;
  /** MySQL servers included. */
  processes(): ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

export interface Plan {
  readonly QueryType: string;
  readonly Original: string;
  /** A tree of operators; `Variant` is `Scatter` for one that asks every shard. */
  readonly Instructions?: object;
}

/** The only cell: where all servers of this cluster are. */
const cell = 'zone1';
const firstTablet = 100;
const controlTimeoutMs = 300_000;

export const startVitess = async ({
  home,
  programs,
  etcd,
  mysqld,
}: VitessOptions): Promise<VitessCluster> => {
  const processes = openProcesses(home);
  let tablets = 0;
  const started = new Map<string, Started>();
  const stop = async (): Promise<void> => {
    for (const [name, one] of [...started].reverse()) {
      await one.stop();
      started.delete(name);
    }
  };
  const [
    etcdPort = 0,
    peerPort = 0,
    gateWeb = 0,
    gateGrpc = 0,
    gatePort = 0,
    controlWeb = 0,
    controlGrpc = 0,
  ] = await freePorts(7);
  const local = ['--bind-address', '127.0.0.1', '--grpc-bind-address', '127.0.0.1'];
  const topology = [
    ...['--topo-implementation', 'etcd2', '--topo-global-root', '/vitess/global'],
    ...['--topo-global-server-address', `127.0.0.1:${etcdPort}`],
  ];
  const url = `mysql://causeway:none@127.0.0.1:${gatePort}/causeway`;
  const client = processes.unprivileged(programs.vtctldclient);
  const control = (...args: string[]) =>
    processes.run(client, ['--server', `127.0.0.1:${controlGrpc}`, ...args], controlTimeoutMs);

  try {
    const [clientUrl, peerUrl] = [`http://127.0.0.1:${etcdPort}`, `http://127.0.0.1:${peerPort}`];
    started.set(
      'etcd',
      await processes.start(
        'etcd',
        etcd,
        [
          ...['--data-dir', join(home, 'etcd'), '--initial-cluster', `default=${peerUrl}`],
          ...['--listen-client-urls', clientUrl, '--advertise-client-urls', clientUrl],
          ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
        ],
        () => isOk(`${clientUrl}/health`),
      ),
    );
    const addCell = [
      'AddCellInfo',
      '--root',
      `/vitess/${cell}`,
      '--server-address',
      `127.0.0.1:${etcdPort}`,
      cell,
    ];
    await processes.run(client, ['--server', 'internal', ...topology, ...addCell], controlTimeoutMs);
    started.set(
      'vtctld',
      await processes.start(
        'vtctld',
        processes.unprivileged(programs.vtctld),
        [
          ...[...topology, '--cell', cell, '--service-map', 'grpc-vtctl,grpc-vtctld', ...local],
          ...['--port', `${controlWeb}`, '--grpc-port', `${controlGrpc}`],
        ],
        () => isOk(`http://127.0.0.1:${controlWeb}/debug/health`),
      ),
    );
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    url,
    control,
    stop,
    document: (name, content) => {
      const file = join(home, 'work', name);
      writeFileSync(file, JSON.stringify(content), { mode: 0o644 });
      return file;
    },
    addShard: (keyspace, shard) => {
      const number = firstTablet + tablets++;
      const place = { home, mysqld, cell, keyspace, shard, number, options: [...topology, ...local] };
      return startTablet({
        ...place,
        program: processes.unprivileged(programs.vttablet),
        processes,
        control,
        started,
      });
    },
    startGate: async () => {
      const gate = await processes.start(
        'vtgate',
        processes.unprivileged(programs.vtgate),
        [
          ...[
            ...topology,
            ...local,
            '--cell',
            cell,
            '--cells-to-watch',
            cell,
            '--tablet-types-to-wait',
            'PRIMARY',
          ],
          ...['--port', `${gateWeb}`, '--grpc-port', `${gateGrpc}`, '--service-map', 'grpc-vtgateservice'],
          ...['--mysql-server-port', `${gatePort}`, '--mysql-server-bind-address', '127.0.0.1'],
          // It listens on the loopback only.
          ...['--mysql-auth-server-impl', 'none'],
          // A transaction that touches two shards fails, instead of being committed on one of them only.
          '--transaction-mode=SINGLE',
          // Holds requests back while a shard moves.
          '--enable-buffer',
          ...['--tablet-refresh-interval', '2s'],
        ],
        () => answers(url),
      );
      started.set('vtgate', gate);
    },
    plans: async () => {
      const response = await fetch(`http://127.0.0.1:${gateWeb}/debug/query_plans`);
      return Object.values((await response.json()) as Record<string, Plan>);
    },
    processes: () => new Map([...started].map(([name, { pid }]) => [name, pid])),
  };
};

export interface VitessOptions {
  readonly home: string;
  readonly programs: Readonly<Record<(typeof clusterPrograms)[number], string>>;
  readonly etcd: Program;
  readonly mysqld: MysqldProgram;
}

const answers = async (url: string): Promise<boolean> => {
  try {
    const connection = await createConnection({ ...parseMysqlUrl(url), connectTimeout: 2_000 });
    await connection.query('SELECT 1 FROM companies LIMIT 1');
    await connection.end();
    return true;
  } catch {
    return false;
  }
};
