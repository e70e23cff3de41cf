import { createMeasurement, type Log, type Metrics, type Repeated, repeat } from '@causeway/runtime';
import { hasBinlog, readBackupAge, readFreeRatio } from './backups.ts';
import { serversMetrics as declared } from './metrics.ts';
import { type MysqlState, readMysql } from './mysql.ts';
import { type NatsState, readNats } from './nats.ts';

/**
 * Measures the servers, backups and disks every few seconds. A value that cannot be measured disappears instead of keeping
 * its last value.
 */
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
  metrics.gauge(declared.nats_leader_known, () => asNumber(state.read()?.leaderKnown), { server });
  metrics.gauge(declared.nats_peers_missing, () => state.read()?.peersMissing, { server });
  metrics.gauge(declared.nats_store_ratio, () => state.read()?.fileRatio, { server, kind: 'file' });
  metrics.gauge(declared.nats_store_ratio, () => state.read()?.memoryRatio, { server, kind: 'memory' });
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
  metrics.gauge(declared.mysql_replica_running, () => asNumber(state.read()?.replica?.running), { server });
  metrics.gauge(declared.mysql_replica_lag_seconds, () => state.read()?.replica?.lagSeconds, { server });
  if (backup !== undefined)
    metrics.gauge(declared.backup_binlog_behind_seconds, () => (nowMs() - completeMs) / 1000);
  return state.loop;
};

const watchBackups = (folder: string, options: WatchOptions): Repeated => {
  const age = createMeasurement<number | undefined>(maxAgeMs);
  options.metrics.gauge(declared.backup_age_seconds, () => {
    const ms = age.read();
    return ms === undefined ? undefined : ms / 1000;
  });
  return every(folder, options, async () => age.set(await readBackupAge(folder, options.nowMs())));
};

const watchDisk = (path: string, options: WatchOptions): Repeated => {
  const free = createMeasurement<number>(maxAgeMs);
  options.metrics.gauge(declared.disk_free_ratio, free.read, { path });
  return every(path, options, async () => free.set(await readFreeRatio(path)));
};

/** Measures a server, and whether it can be measured. */
const watchedServer = <State extends NatsState | MysqlState>(
  server: string,
  options: WatchOptions,
  measure: () => Promise<State>,
) => {
  const { metrics, nowMs } = options;
  const state = createMeasurement<State>(maxAgeMs);
  metrics.gauge(declared.server_up, () => (state.read() ? 1 : 0), { server });
  metrics.gauge(
    declared.server_certificate_seconds,
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
  /** The primary first. */
  readonly mysqlUrls: readonly string[];
  readonly backup: string | undefined;
  readonly paths: readonly string[];
  readonly pauseMs: number;
  readonly nowMs: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
}
