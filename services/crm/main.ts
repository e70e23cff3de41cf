import { parseConfig, readEnv, runService } from '@causeway/runtime';
import { crmConfig } from './config.ts';
import { createCrm } from './service.ts';
import { tenantTables } from './tables.ts';

await runService(
  'crm',
  () => parseConfig(crmConfig, readEnv('crm')),
  tenantTables,
  (parts, config) => createCrm({ ...parts, writeGroupSize: config.WRITE_GROUP_SIZE }),
);
