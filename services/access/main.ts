import { openBus, openDatabase, readEnv, runProcess } from '@causeway/runtime';
import { portalSettings, readConfig } from './config.ts';
import { type AccessTables, tenantTables } from './schema.ts';
import { createAccess } from './service.ts';

await runProcess(
  'access',
  () => readConfig(readEnv()),
  async (kit, config) => {
    const { instance, log, metrics, tracer } = kit;
    const db = await openDatabase<AccessTables>(kit, config, tenantTables);
    const bus = await openBus(kit, config);
    const access = await createAccess({
      bus,
      db,
      instance,
      log,
      metrics,
      tracer,
      keyPrefix: config.API_KEY_PREFIX,
      keyQuota: config.QUOTA_KEYS,
      portal: portalSettings(config),
      replicas: config.NATS_REPLICAS,
      limitLogServers: config.NATS_REPLICAS >= 3 ? config.LIMIT_LOG_SERVERS.split(',') : [],
    });
    kit.onStop('access', () => access.drain());
    kit.ready('access', () => access.ready());
  },
);
