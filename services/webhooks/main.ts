import { parseConfig, readEnv, runService } from '@causeway/runtime';
import { webhooksConfig } from './config.ts';
import { createWebhooks } from './service.ts';
import { tenantTables } from './tables.ts';

await runService(
  'webhooks',
  () => parseConfig(webhooksConfig, readEnv('webhooks')),
  tenantTables,
  (parts, config) =>
    createWebhooks({
      ...parts,
      keyRing: config.WEBHOOKS_SECRET_KEYS,
      targets: {
        allowHttp: config.WEBHOOKS_ALLOW_HTTP,
        allowPrivate: config.WEBHOOKS_ALLOW_PRIVATE,
        ports: config.WEBHOOKS_PORTS,
      },
      quotas: {
        subscriptions: config.QUOTA_SUBSCRIPTIONS,
        waitingDeliveries: config.QUOTA_WAITING_DELIVERIES,
      },
      retentionDays: config.RETENTION_DAYS,
    }),
);
