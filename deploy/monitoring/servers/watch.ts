import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createMeasurement,
  declareMetrics,
  type Log,
  type Metrics,
  parseMysqlUrl,
  type Repeated,
  repeat,
} from '@causeway/runtime';
import { createConnection, type RowDataPacket } from 'mysql2/promise';

/** A value that cannot be measured disappears instead of keeping its last value. */
export const watchServers = (options: WatchOptions): { stop(): Promise<void> } => {
  const loops = [
    ...options.natsUrls.map((url) => watchNats(url, options)),
    ...options.mysqlUrls.map((url, at) => watchMysql(url, at === 0 ? options.backup : undefined, options)),
    ...(options.backup === undefined ? [] : [watchBackups(options.backup, options)]),
    ...options.paths.map((path) => watchDisk(path, options)),
  ];
  return { stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))) };
};

const watchNats = (url: string, options: WatchOptions): Repeated => {
  const { metrics } = options;
  const server = new URL(url).host;
  const state = watchedServer(server, options, () => readNats(url));
  metrics.gauge(serversMetrics.nats_leader_known, () => asNumber(state.read()?.leaderKnown), { server });
  metrics.gauge(serversMetrics.nats_peers_missing, () => state.read()?.peersMissing, { server });
  metrics.gauge(serversMetrics.nats_store_ratio, () => state.read()?.fileRatio, { server, kind: 'file' });
  metrics.gauge(serversMetrics.nats_store_ratio, () => state.read()?.memoryRatio, { server, kind: 'memory' });
  return state.loop;
};

const watchMysql = (url: string, backup: string | undefined, options: WatchOptions): Repeated => {
  const { metrics, nowMs } = options;
  const server = new URL(url).host;
  let before: MysqlState['binlog'];
  let completeMs = nowMs();
  const state = watchedServer(server, options, async () => {
    const next = await readMysql(url);
    // What was written before the last pass must have been copied by now.
    if (backup !== undefined && before && (await hasBinlog(backup, before))) completeMs = nowMs();
    before = next.binlog;
    return next;
  });
  metrics.gauge(serversMetrics.mysql_replica_running, () => asNumber(state.read()?.replica?.running), {
    server,
  });
  metrics.gauge(serversMetrics.mysql_replica_lag_seconds, () => state.read()?.replica?.lagSeconds, {
    server,
  });
  if (backup !== undefined)
    metrics.gauge(serversMetrics.backup_binlog_behind_seconds, () => (nowMs() - completeMs) / 1000);
  return state.loop;
};

const watchBackups = (folder: string, options: WatchOptions): Repeated => {
  const age = createMeasurement<number | undefined>(maxAgeMs);
  options.metrics.gauge(serversMetrics.backup_age_seconds, () => {
    const ms = age.read();
    return ms === undefined ? undefined : ms / 1000;
  });
  return every(folder, options, async () => age.set(await readBackupAge(folder, options.nowMs())));
};

const watchDisk = (path: string, options: WatchOptions): Repeated => {
  const free = createMeasurement<number>(maxAgeMs);
  options.metrics.gauge(serversMetrics.disk_free_ratio, free.read, { path });
  return every(path, options, async () => free.set(await readFreeRatio(path)));
};

const watchedServer = <State extends NatsState | MysqlState>(
  server: string,
  options: WatchOptions,
  measure: () => Promise<State>,
) => {
  const { metrics, nowMs } = options;
  const state = createMeasurement<State>(maxAgeMs);
  metrics.gauge(serversMetrics.server_up, () => (state.read() ? 1 : 0), { server });
  metrics.gauge(
    serversMetrics.server_certificate_seconds,
    () => {
      const endMs = state.read()?.certificateEndMs;
      return endMs === undefined ? undefined : (endMs - nowMs()) / 1000;
    },
    { server },
  );
  return { read: state.read, loop: every(server, options, async () => state.set(await measure())) };
};

const every = (what: string, { log, pauseMs }: WatchOptions, pass: () => Promise<void>): Repeated =>
  repeat(
    async () => {
      await pass();
      return 0;
    },
    { pauseMs, onError: (error) => log.warn({ error, what }, 'not measured; retried') },
  );

const maxAgeMs = 45_000;

const asNumber = (flag: boolean | undefined): number | undefined =>
  flag === undefined ? undefined : Number(flag);

interface WatchOptions {
  readonly natsUrls: readonly string[];
  readonly mysqlUrls: readonly string[];
  readonly backup: string | undefined;
  readonly paths: readonly string[];
  readonly pauseMs: number;
  readonly nowMs: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
}

export const serversMetrics = declareMetrics({
  backup_age_seconds: { type: 'gauge', help: 'Age of the newest dump' },
  backup_binlog_behind_seconds: {
    type: 'gauge',
    help: 'Time since the copy of the binary log had everything that MySQL had written',
  },
  disk_free_ratio: { type: 'gauge', help: 'Free share of the disk of a path', labels: ['path'] },
  mysql_replica_lag_seconds: { type: 'gauge', help: 'Lag of a replica', labels: ['server'] },
  mysql_replica_running: {
    type: 'gauge',
    help: '1 if a replica receives and applies changes, else 0',
    labels: ['server'],
  },
  nats_leader_known: {
    type: 'gauge',
    help: '1 if a NATS server knows the leader of its cluster, else 0',
    labels: ['server'],
  },
  nats_peers_missing: {
    type: 'gauge',
    help: 'NATS servers that are offline or behind, as the leader sees it',
    labels: ['server'],
  },
  nats_store_ratio: {
    type: 'gauge',
    help: "Used share of a NATS server's store of streams",
    labels: ['server', 'kind'],
  },
  server_certificate_seconds: {
    type: 'gauge',
    help: "Time until a server's certificate expires",
    labels: ['server'],
  },
  server_up: { type: 'gauge', help: '1 if a server answers, else 0', labels: ['server'] },
});

interface MysqlState {
  readonly replica: { readonly running: boolean; readonly lagSeconds: number | undefined } | undefined;
  readonly binlog: { readonly file: string; readonly position: number } | undefined;
  readonly certificateEndMs: number | undefined;
}

/** Its user needs `REPLICATION CLIENT`. @throws if it does not answer within five seconds */
export const readMysql = async (url: string): Promise<MysqlState> => {
  // Its user has no privilege on any database, so it may not connect to one.
  const { database: _, ...server } = parseMysqlUrl(url);
  const connection = await createConnection({ ...server, connectTimeout: timeoutMs });
  connection.on('error', () => {});
  const ask = async (sql: string): Promise<RowDataPacket | undefined> =>
    (await connection.query<RowDataPacket[]>({ sql, timeout: timeoutMs }))[0][0];
  try {
    const replica = await ask('SHOW REPLICA STATUS');
    const binlog = await ask('SHOW BINARY LOG STATUS');
    const expiry = await ask("SHOW GLOBAL STATUS LIKE 'Ssl_server_not_after'");
    const endMs = Date.parse(String(expiry?.Value));
    return {
      replica: replica && {
        running: replica.Replica_IO_Running === 'Yes' && replica.Replica_SQL_Running === 'Yes',
        lagSeconds:
          replica.Seconds_Behind_Source === null ? undefined : Number(replica.Seconds_Behind_Source),
      },
      binlog: binlog && { file: String(binlog.File), position: Number(binlog.Position) },
      certificateEndMs: Number.isNaN(endMs) ? undefined : endMs,
    };
  } finally {
    connection.destroy();
  }
};

const timeoutMs = 5_000;

interface NatsState {
  readonly leaderKnown: boolean | undefined;
  readonly peersMissing: number | undefined;
  readonly fileRatio: number;
  readonly memoryRatio: number;
  readonly certificateEndMs: number | undefined;
}

/** @throws if it does not answer within five seconds */
const readNats = async (url: string): Promise<NatsState> => {
  const ask = async <Answer>(path: string): Promise<Answer> => {
    const answer = await fetch(new URL(path, url), { signal: AbortSignal.timeout(timeoutMs) });
    if (!answer.ok) throw new Error(`${url}${path} answered ${answer.status}`);
    return (await answer.json()) as Answer;
  };
  const [server, streams] = await Promise.all([ask<Varz>('/varz'), ask<Jsz>('/jsz')]);
  const { meta_cluster: cluster, config } = streams;
  return {
    leaderKnown: cluster && Boolean(cluster.leader),
    peersMissing: cluster?.leader === server.server_name ? missing(cluster) : undefined,
    fileRatio: streams.storage / config.max_storage,
    memoryRatio: streams.memory / config.max_memory,
    certificateEndMs: server.tls_cert_not_after ? Date.parse(server.tls_cert_not_after) : undefined,
  };
};

const missing = ({ cluster_size, replicas = [] }: Cluster): number =>
  Math.max(
    0,
    cluster_size - 1 - replicas.filter(({ current, offline }) => current && offline !== true).length,
  );

interface Varz {
  readonly server_name: string;
  readonly tls_cert_not_after?: string;
}

interface Jsz {
  readonly memory: number;
  readonly storage: number;
  readonly config: { readonly max_memory: number; readonly max_storage: number };
  readonly meta_cluster?: Cluster;
}

interface Cluster {
  readonly leader?: string;
  readonly cluster_size: number;
  readonly replicas?: readonly { readonly current: boolean; readonly offline?: boolean }[];
}

/** A dump that is being written has another name. */
const readBackupAge = async (folder: string, nowMs: number): Promise<number | undefined> => {
  const dumps = (await readdir(folder)).filter((name) => name.endsWith('.sql.gz'));
  const timesMs = await Promise.all(dumps.map(async (name) => (await stat(join(folder, name))).mtimeMs));
  return timesMs.length === 0 ? undefined : Math.max(0, nowMs - Math.max(...timesMs));
};

const hasBinlog = async (
  folder: string,
  { file, position }: { readonly file: string; readonly position: number },
): Promise<boolean> => {
  if ((await readdir(folder)).some((name) => /^binlog\.\d+$/.test(name) && name > file)) return true;
  const size = await stat(join(folder, file)).then(
    (found) => found.size,
    () => 0,
  );
  return size >= position;
};

const readFreeRatio = async (path: string): Promise<number> => {
  const { bavail, blocks } = await statfs(path);
  return bavail / blocks;
};
