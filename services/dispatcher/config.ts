import {
  attemptTimeoutMs,
  probeIntervalMs,
  retentionDays,
  retryScheduleMs,
  waitingDeliveriesQuota,
} from '@causeway/proto';
import { commonConfig, duration, durations, flag, integer, keyRing, ports } from '@causeway/runtime';
import { z } from 'zod';

const [second, hour] = [1000, 3_600_000] as const;

/** The dispatcher's environment variables. */
export const dispatcherConfig = {
  ...commonConfig,
  /** `mysql://user:password@host:port/database` */
  MYSQL_URL: z.string(),
  MYSQL_POOL_SIZE: integer(1, 1000).default(8),
  /** `vtgate` if the URL leads to vtgate: then no transaction concerns companies of several shards. */
  MYSQL_SHARDS: z.enum(['none', 'vtgate']).default('none'),
  /** Keys that encrypt signing secrets. */
  WEBHOOKS_SECRET_KEYS: keyRing(),
  /** Allows deliveries over plain http. */
  WEBHOOKS_ALLOW_HTTP: flag().default(false),
  /** Allows deliveries to private addresses. */
  WEBHOOKS_ALLOW_PRIVATE: flag().default(false),
  /** Allowed destination ports (`deliveryPorts`). */
  WEBHOOKS_PORTS: ports().optional(),
  /** Waits before each retry. The number of waits is the number of retries. */
  WEBHOOKS_RETRY_SCHEDULE: durations(50, 72 * hour).default([...retryScheduleMs]),
  /** Time limit for a whole attempt, from DNS to the last byte of the answer. */
  WEBHOOKS_TIMEOUT: duration(10, 15 * second).default(attemptTimeoutMs),
  /** Wait before the first probe of a failing subscription (`longestProbeWait`). */
  WEBHOOKS_PROBE_INTERVAL: duration(10, hour).default(probeIntervalMs),
  /** Maximum attempts in flight. */
  DISPATCHER_SLOTS: integer(4, 16_384).default(512),
  /** Maximum attempts in flight to one host, over all subscriptions. */
  WEBHOOKS_MAX_PER_HOST: integer(2, 16_384).default(256),
  /** How many deliveries of a company may wait. */
  QUOTA_WAITING_DELIVERIES: integer(1, 1_000_000_000).default(waitingDeliveriesQuota),
  /** Whole days to keep deliveries and attempts. */
  RETENTION_DAYS: integer(1, 400).default(retentionDays),
  /** Copies of the stream of events: 1 on a single NATS server, 3 in a cluster. */
  NATS_REPLICAS: integer(1, 5).default(1),
  /** Number of signing threads. */
  DISPATCHER_SIGNERS: integer(1, 16).default(1),
} as const;
