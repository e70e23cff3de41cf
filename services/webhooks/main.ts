import {
  connectBus,
  connectDatabase,
  natsAddress,
  parseConfig,
  readEnv,
  runProcess,
} from '@causeway/runtime';
import { webhooksConfig } from './config.ts';
import { createWebhooks } from './service.ts';
import { type Tables, tenantTables } from './tables.ts';

await runProcess(
  'webhooks',
  () => parseConfig(webhooksConfig, readEnv()),
  async (kit, config) => {
    const { instance, log, metrics } = kit;
    const db = connectDatabase<Tables>({
      url: config.MYSQL_URL,
      poolSize: config.MYSQL_POOL_SIZE,
      tenantTables,
      log,
      metrics,
    });
    kit.onStop('MySQL', () => db.close());
    kit.ready('MySQL', () => db.isUp());
    await db.ping();
    const bus = await connectBus({ ...natsAddress(config), name: 'webhooks', instance, log });
    kit.onStop('NATS', () => bus.close());
    kit.ready('NATS', () => bus.connected());
    const webhooks = await createWebhooks({
      bus,
      db,
      instance,
      log,
      metrics,
      keyRing: config.WEBHOOKS_SECRET_KEYS,
      targets: { allowHttp: config.WEBHOOKS_ALLOW_HTTP, allowPrivate: config.WEBHOOKS_ALLOW_PRIVATE },
      retentionDays: config.RETENTION_DAYS,
      replicas: config.NATS_REPLICAS,
    });
    kit.onStop('service', () => webhooks.drain());
  },
);
