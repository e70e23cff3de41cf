import {
  attemptTimeoutMs,
  probeIntervalMs,
  retentionDays,
  retryScheduleMs,
  waitingDeliveriesQuota,
} from '@causeway/proto';
import {
  ConfigError,
  commonConfig,
  duration,
  durations,
  flag,
  integer,
  keyRing,
  mysqlConfig,
  parseConfig,
  ports,
} from '@causeway/runtime';

const [second, hour] = [1000, 3_600_000] as const;

export const dispatcherConfig = {
  ...commonConfig,
  ...mysqlConfig(8),
  WEBHOOKS_SECRET_KEYS: keyRing(),
  WEBHOOKS_ALLOW_HTTP: flag().default(false),
  WEBHOOKS_ALLOW_PRIVATE: flag().default(false),
  WEBHOOKS_PORTS: ports().optional(),
  /** As many retries as waits. */
  WEBHOOKS_RETRY_SCHEDULE: durations(50, 72 * hour).default([...retryScheduleMs]),
  /** For a whole attempt, from DNS to the last byte of the answer. */
  WEBHOOKS_TIMEOUT: duration(10, 15 * second).default(attemptTimeoutMs),
  WEBHOOKS_PROBE_INTERVAL: duration(10, hour).default(probeIntervalMs),
  DISPATCHER_SLOTS: integer(4, 16_384).default(512),
  WEBHOOKS_MAX_PER_HOST: integer(2, 16_384).default(256),
  QUOTA_WAITING_DELIVERIES: integer(1, 1_000_000_000).default(waitingDeliveriesQuota),
  RETENTION_DAYS: integer(1, 400).default(retentionDays),
  NATS_REPLICAS: integer(1, 5).default(1),
} as const;

/** @throws ConfigError */
export const readConfig = (env: NodeJS.ProcessEnv) => {
  const config = parseConfig(dispatcherConfig, env);
  const retriesMs = config.WEBHOOKS_RETRY_SCHEDULE.reduce((sum, waitMs) => sum + waitMs, 0);
  if (retriesMs > config.RETENTION_DAYS * 24 * hour)
    throw new ConfigError(
      'configuration: the waits of WEBHOOKS_RETRY_SCHEDULE are longer than RETENTION_DAYS: events would be gone before their last attempt',
    );
  return config;
};
