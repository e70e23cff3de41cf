import { openBus, openDatabase, parseConfig, readEnv, runProcess } from '@causeway/runtime';
import { crmConfig } from './config.ts';
import { createCrm } from './service.ts';
import { type Tables, tenantTables } from './tables.ts';

await runProcess(
  'crm',
  () => parseConfig(crmConfig, readEnv()),
  async (kit, config) => {
    const { instance, log, metrics, tracer } = kit;
    const db = await openDatabase<Tables>(kit, config, tenantTables);
    const bus = await openBus(kit, config);
    const crm = await createCrm({
      bus,
      db,
      instance,
      log,
      metrics,
      tracer,
      now: db.now,
      writeGroupSize: config.WRITE_GROUP_SIZE,
    });
    kit.ready('key table', crm.ready);
    kit.onStop('service', () => crm.drain());
  },
);
