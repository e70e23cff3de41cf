import { openBus, openDatabase, parseConfig, readEnv, runProcess } from '@causeway/runtime';
import { webhooksConfig } from './config.ts';
import { createWebhooks } from './service.ts';
import { type Tables, tenantTables } from './tables.ts';

await runProcess(
  'webhooks',
  () => parseConfig(webhooksConfig, readEnv()),
  async (kit, config) => {
    const { instance, log, metrics, tracer } = kit;
    const db = await openDatabase<Tables>(kit, config, tenantTables);
    const bus = await openBus(kit, config);
    const webhooks = await createWebhooks({
      bus,
      db,
      instance,
      log,
      metrics,
      tracer,
      now: db.now,
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
    });
    kit.ready('key table', webhooks.ready);
    kit.onStop('service', () => webhooks.drain());
  },
);
