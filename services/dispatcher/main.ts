import {
  connectBus,
  connectDatabase,
  natsAddress,
  parseConfig,
  readEnv,
  runProcess,
} from '@causeway/runtime';
import { dispatcherConfig } from './config.ts';
import { createDispatcher } from './service.ts';
import { type Tables, tenantTables } from './tables.ts';

await runProcess(
  'dispatcher',
  () => parseConfig(dispatcherConfig, readEnv()),
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
    const bus = await connectBus({ ...natsAddress(config), name: 'dispatcher', instance, log });
    kit.onStop('NATS', () => bus.close());
    kit.ready('NATS', () => bus.connected());
    const dispatcher = createDispatcher({
      bus,
      db,
      keyRing: config.WEBHOOKS_SECRET_KEYS,
      log,
      metrics,
      allowHttp: config.WEBHOOKS_ALLOW_HTTP,
      allowPrivate: config.WEBHOOKS_ALLOW_PRIVATE,
      scheduleMs: config.WEBHOOKS_RETRY_SCHEDULE,
      timeoutMs: config.WEBHOOKS_TIMEOUT,
      probeIntervalMs: config.WEBHOOKS_PROBE_INTERVAL,
      slots: config.DISPATCHER_SLOTS,
      signers: config.DISPATCHER_SIGNERS,
    });
    kit.onStop('service', () => dispatcher.drain());
  },
);
