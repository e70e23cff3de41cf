import { join } from 'node:path';
import { MigrationError, migrate } from '@causeway/runtime';
import { Unprovided } from './unprovided.ts';

const owners = ['access', 'crm', 'webhooks'];

/** Brings the cluster's database up to date. */
export const startMigrations = async (root: string, mysqlUrl: string): Promise<void> => {
  const folders = owners.map((name) => ({ name, folder: join(root, 'services', name, 'migrations') }));
  try {
    await migrate(mysqlUrl, folders);
  } catch (error) {
    throw error instanceof MigrationError ? new Unprovided(error.message) : error;
  }
};
