import { retentionDays } from '@causeway/proto';
import { commonConfig, flag, integer, keyRing, mysqlConfig, ports } from '@causeway/runtime';
import { defaultQuotas } from './context.ts';

export const webhooksConfig = {
  ...commonConfig,
  ...mysqlConfig(8),
  WEBHOOKS_SECRET_KEYS: keyRing(),
  WEBHOOKS_ALLOW_HTTP: flag().default(false),
  WEBHOOKS_ALLOW_PRIVATE: flag().default(false),
  /** The ports that deliveries may go to (`deliveryPorts`). */
  WEBHOOKS_PORTS: ports().optional(),
  RETENTION_DAYS: integer(1, 400).default(retentionDays),
  QUOTA_SUBSCRIPTIONS: integer(1, 100_000).default(defaultQuotas.subscriptions),
  QUOTA_WAITING_DELIVERIES: integer(1, 1_000_000_000).default(defaultQuotas.waitingDeliveries),
} as const;
