import { sql } from 'kysely';
import { type Bus, connectBus } from './bus.ts';
import { checkNats } from './check-nats.ts';
import type { MysqlConfig } from './config.ts';
import { checkMysql } from './database/check-server.ts';
import { connectDatabase, type DatabaseOptions } from './database/connect.ts';
import type { Database } from './database/handle.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { natsAddress } from './nats-address.ts';
import { type CommonConfig, type Kit, runProcess } from './process.ts';
import { eachTick } from './repeat.ts';

/** @throws DatabaseUnavailable; ConfigError */
export const openDatabase = async <DB>(
  kit: Kit,
  config: MysqlConfig,
  tenantTables: ReadonlySet<string>,
  session?: DatabaseOptions['session'],
): Promise<Database<DB>> => {
  const db = connectDatabase<DB>({
    url: config.MYSQL_URL,
    poolSize: config.MYSQL_POOL_SIZE,
    tenantTables,
    ...(session && { session }),
    shards: config.MYSQL_SHARDS === 'vtgate' ? 'vtgate' : undefined,
    log: kit.log,
    metrics: kit.metrics,
  });
  kit.onStop('MySQL', () => db.close());
  kit.ready('MySQL', () => db.isUp());
  await db.ping();
  if (config.MYSQL_SHARDS === 'none')
    await checkMysql({
      read: async (statement) => (await sql.raw<object>(statement).execute(db)).rows,
    });
  await db.shards?.ready();
  kit.onStop(
    'clock',
    eachTick(() => void db.ping().catch(() => {}), clockEveryMs),
  );
  return db;
};

const clockEveryMs = 10_000;

/** @throws like `connectBus` and `checkNats` */
export const openBus = async (kit: Kit, config: CommonConfig): Promise<Bus> => {
  const { name, instance, log, metrics } = kit;
  const bus = await connectBus({ ...natsAddress(config), name, instance, standby: true, log, metrics });
  kit.onStop('NATS', () => bus.close());
  kit.ready('NATS', () => bus.connected());
  await checkNats(bus.nc, bus.inbox());
  return bus;
};

export const runService = <DB, Config extends CommonConfig & MysqlConfig>(
  name: string,
  readConfig: () => Config,
  tenantTables: ReadonlySet<string>,
  create: (parts: ServiceOptions<DB>, config: Config) => Promise<RunningService>,
): Promise<void> =>
  runProcess(name, readConfig, async (kit, config) => {
    const { log, metrics } = kit;
    const db = await openDatabase<DB>(kit, config, tenantTables);
    const bus = await openBus(kit, config);
    const service = await create({ bus, db, log, metrics, now: db.now }, config);
    kit.ready('key table', service.ready);
    kit.onStop('service', service.drain);
  });

/** What every service with a database takes. Tests give it their own clock and no metrics. */
export interface ServiceOptions<DB> {
  readonly bus: Bus;
  readonly db: Database<DB>;
  readonly log: Log;
  readonly metrics?: Metrics;
  /** The database's clock, unless a test moves it. */
  readonly now?: () => Date;
}

interface RunningService {
  readonly ready: () => boolean;
  readonly drain: () => Promise<void>;
}
