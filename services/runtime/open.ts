import { type Bus, connectBus } from './bus.ts';
import { connectDatabase, type Database } from './database/connect.ts';
import { natsAddress } from './nats-address.ts';
import type { CommonConfig, Kit } from './process.ts';

/**
 * Reaches the process's database, and goes by its clock from then on: without it the process is not ready; it is let go when the process stops.
 * @throws where it cannot be reached
 */
export const openDatabase = async <DB>(
  kit: Kit,
  config: { readonly MYSQL_URL: string; readonly MYSQL_POOL_SIZE: number },
  tenantTables: ReadonlySet<string>,
): Promise<Database<DB>> => {
  const db = connectDatabase<DB>({
    url: config.MYSQL_URL,
    poolSize: config.MYSQL_POOL_SIZE,
    tenantTables,
    log: kit.log,
    metrics: kit.metrics,
    tracer: kit.tracer,
  });
  kit.onStop('MySQL', () => db.close());
  kit.ready('MySQL', () => db.isUp());
  await db.ping();
  const following = setInterval(() => void db.ping().catch(() => {}), clockEveryMs);
  kit.onStop('clock', () => clearInterval(following));
  return db;
};

/** How often the database is asked for its time, which all processes go by. */
const clockEveryMs = 10_000;

/** Enters NATS, under the process's name; what is said of the database is true of it. @throws as `connectBus` */
export const openBus = async (kit: Kit, config: CommonConfig): Promise<Bus> => {
  const { name, instance, log } = kit;
  const bus = await connectBus({ ...natsAddress(config), name, instance, log });
  kit.onStop('NATS', () => bus.close());
  kit.ready('NATS', () => bus.connected());
  return bus;
};
