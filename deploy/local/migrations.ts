import { MigrationError, migrate } from '@causeway/runtime';
import { migrationFolders } from '../migrate/folders.ts';
import { Unprovided } from './unprovided.ts';

/** Brings the cluster's database up to date. */
export const startMigrations = async (root: string, mysqlUrl: string): Promise<void> => {
  try {
    await migrate(mysqlUrl, migrationFolders(root));
  } catch (error) {
    throw error instanceof MigrationError ? new Unprovided(error.message) : error;
  }
};
