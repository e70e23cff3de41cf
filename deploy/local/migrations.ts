import { MigrationError, migrate } from '@causeway/runtime';
import { migrationFolders } from '../migrate/folders.ts';
import { Unprovided } from './unprovided.ts';

/** Migrates the cluster's database. */
export const startMigrations = async (root: string, mysqlUrl: string): Promise<void> => {
  try {
    await migrate(mysqlUrl, migrationFolders(root));
  } catch (error) {
    throw error instanceof MigrationError ? new Unprovided(error.message) : error;
  }
};
