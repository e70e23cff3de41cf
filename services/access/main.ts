import { readEnv, runService } from '@causeway/runtime';
import { mailSettings, portalSettings, readConfig } from './config.ts';
import { type AccessTables, tenantTables } from './schema.ts';
import { createAccess } from './service.ts';

await runService<AccessTables, ReturnType<typeof readConfig>>(
  'access',
  () => readConfig(readEnv('access')),
  tenantTables,
  (parts, config) =>
    createAccess({
      ...parts,
      keyPrefix: config.API_KEY_PREFIX,
      keyQuota: config.QUOTA_KEYS,
      portal: portalSettings(config),
      mail: mailSettings(config),
      replicas: config.NATS_REPLICAS,
      limitLogServers: config.NATS_REPLICAS >= 3 ? config.LIMIT_LOG_SERVERS.split(',') : [],
    }),
);
