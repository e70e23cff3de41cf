import { connectBus, connectDatabase, natsAddress, readEnv, runProcess } from '@causeway/runtime';
import { portalSettings, readConfig } from './config.ts';
import { type AccessTables, tenantTables } from './schema.ts';
import { createAccess } from './service.ts';

await runProcess(
  'access',
  () => readConfig(readEnv()),
  async (kit, config) => {
    const { instance, log, metrics } = kit;
    const db = connectDatabase<AccessTables>({
      url: config.MYSQL_URL,
      poolSize: config.MYSQL_POOL_SIZE,
      tenantTables,
      log,
      metrics,
    });
    kit.onStop('database', () => db.close());
    await db.ping();
    const bus = await connectBus({ ...natsAddress(config), name: 'access', instance, log });
    kit.onStop('nats', () => bus.close());
    kit.ready('nats', () => bus.connected());
    const access = await createAccess({
      bus,
      db,
      instance,
      log,
      metrics,
      keyPrefix: config.API_KEY_PREFIX,
      portal: portalSettings(config),
      replicas: config.NATS_REPLICAS,
    });
    kit.onStop('access', () => access.drain());
    kit.ready('access', () => access.ready());
  },
);
