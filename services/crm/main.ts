import {
  connectBus,
  connectDatabase,
  natsAddress,
  parseConfig,
  readEnv,
  runProcess,
} from '@causeway/runtime';
import { crmConfig } from './config.ts';
import { createCrm } from './service.ts';
import { type Tables, tenantTables } from './tables.ts';

await runProcess(
  'crm',
  () => parseConfig(crmConfig, readEnv()),
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
    const bus = await connectBus({ ...natsAddress(config), name: 'crm', instance, log });
    kit.onStop('NATS', () => bus.close());
    kit.ready('NATS', () => bus.connected());
    const crm = await createCrm({
      bus,
      db,
      instance,
      log,
      metrics,
      writeGroupSize: config.WRITE_GROUP_SIZE,
    });
    kit.onStop('service', () => crm.drain());
  },
);
