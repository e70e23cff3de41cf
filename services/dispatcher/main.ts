import { connectDatabase, openBus, openDatabase, readEnv, runProcess } from '@causeway/runtime';
import { readConfig } from './config.ts';
import { createDispatcher } from './service.ts';
import { type Tables, tenantTables } from './tables.ts';

await runProcess(
  'dispatcher',
  () => readConfig(readEnv('dispatcher')),
  async (kit, config) => {
    const { log, metrics } = kit;
    // Locks must not outlast leases when another dispatcher has to continue the work.
    const db = await openDatabase<Tables>(kit, config, tenantTables, { idleTimeoutS: 2 });
    const beatDb = connectDatabase<Tables>({
      url: config.MYSQL_URL,
      poolSize: 1,
      tenantTables,
      shards: db.shards && 'vtgate',
    });
    kit.onStop('beats', () => beatDb.close());
    const bus = await openBus(kit, config);
    const dispatcher = await createDispatcher({
      bus,
      db,
      beatDb,
      instance: kit.instance,
      keyRing: config.WEBHOOKS_SECRET_KEYS,
      log,
      metrics,
      now: db.now,
      allowHttp: config.WEBHOOKS_ALLOW_HTTP,
      allowPrivate: config.WEBHOOKS_ALLOW_PRIVATE,
      ports: config.WEBHOOKS_PORTS,
      scheduleMs: config.WEBHOOKS_RETRY_SCHEDULE,
      timeoutMs: config.WEBHOOKS_TIMEOUT,
      probeIntervalMs: config.WEBHOOKS_PROBE_INTERVAL,
      slots: config.DISPATCHER_SLOTS,
      maxPerHost: config.WEBHOOKS_MAX_PER_HOST,
      waitingQuota: config.QUOTA_WAITING_DELIVERIES,
      retentionDays: config.RETENTION_DAYS,
      replicas: config.NATS_REPLICAS,
    });
    kit.onStop('service', () => dispatcher.drain());
  },
);
