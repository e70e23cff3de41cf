import { attemptTimeoutMs, probeIntervalMs, retryScheduleMs, waitingDeliveriesQuota } from '@causeway/proto';
import { commonConfig, duration, durations, flag, integer, keyRing, ports } from '@causeway/runtime';
import { z } from 'zod';

const [second, hour] = [1000, 3_600_000] as const;

/** What the dispatcher reads from its environment. */
export const dispatcherConfig = {
  ...commonConfig,
  /** `mysql://user:password@host:port/database` */
  MYSQL_URL: z.string(),
  MYSQL_POOL_SIZE: integer(1, 1000).default(8),
  /** What signing secrets are sealed with. */
  WEBHOOKS_SECRET_KEYS: keyRing(),
  /** Whether a delivery may go over plain http. */
  WEBHOOKS_ALLOW_HTTP: flag().default(false),
  /** Whether a delivery may go to an address of a private network. */
  WEBHOOKS_ALLOW_PRIVATE: flag().default(false),
  /** The ports that deliveries may go to (`deliveryPorts`). */
  WEBHOOKS_PORTS: ports().optional(),
  /** The waits before the retries of a delivery; as many retries as there are waits. */
  WEBHOOKS_RETRY_SCHEDULE: durations(50, 72 * hour).default([...retryScheduleMs]),
  /** How long a receiver has for its whole answer. */
  WEBHOOKS_TIMEOUT: duration(10, 15 * second).default(attemptTimeoutMs),
  /** The least time between two attempts to a subscription that is failing. */
  WEBHOOKS_PROBE_INTERVAL: duration(10, hour).default(probeIntervalMs),
  /** Attempts in flight at a time. */
  DISPATCHER_SLOTS: integer(4, 16_384).default(512),
  /** Of these, to one host, over all subscriptions. */
  WEBHOOKS_MAX_PER_HOST: integer(2, 16_384).default(256),
  /** How many deliveries of a company may wait. */
  QUOTA_WAITING_DELIVERIES: integer(1, 1_000_000_000).default(waitingDeliveriesQuota),
  /** Threads that sign. */
  DISPATCHER_SIGNERS: integer(1, 16).default(1),
} as const;
