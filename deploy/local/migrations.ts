import { MigrationError, migrate } from '@causeway/runtime';
import { migrationFolders } from '../migrate/folders.ts';
import { SetupError } from './setup-error.ts';

/** Migrates the cluster's database. */
export const startMigrations = async (root: string, mysqlUrl: string): Promise<void> => {
  try {
    await migrate(mysqlUrl, migrationFolders(root));
  } catch (error) {
    throw error instanceof MigrationError ? new SetupError(error.message) : error;
  }
};
