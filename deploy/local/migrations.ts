import { join } from 'node:path';
import { migrate } from '@causeway/runtime';

const owners = ['access', 'crm'];

/** Brings the cluster's database up to date. */
export const startMigrations = async (root: string, mysqlUrl: string): Promise<void> => {
  await migrate(
    mysqlUrl,
    owners.map((name) => ({ name, folder: join(root, 'services', name, 'migrations') })),
  );
};
