import { resolve } from 'node:path';
import { ConfigError, MigrationError, migrate, parseConfig, readEnv } from '@causeway/runtime';
import { applyGrants } from '../mysql/grants.ts';
import { migrateConfig } from './config.ts';
import { migrationFolders } from './folders.ts';

// Migrates the database and exits. Any number may run at once; they take turns. Exits 78 (EX_CONFIG) for an invalid
// setting and 1 for a failed migration; run it again once the cause is fixed.
try {
  const { MYSQL_URL, MYSQL_GRANTS } = parseConfig(migrateConfig, readEnv());
  const root = resolve(import.meta.dirname, '../..');
  const folders = migrationFolders(root);
  const onWait = (file: string) => process.stdout.write(`${file}: its table is in use, trying again\n`);
  const { applied } = await migrate(MYSQL_URL, folders, { onWait });
  if (MYSQL_GRANTS) await applyGrants(MYSQL_URL, root);
  for (const file of applied) process.stdout.write(`applied ${file}\n`);
  process.stdout.write(applied.length === 0 ? 'nothing to apply\n' : `${applied.length} applied\n`);
} catch (error) {
  const known = error instanceof ConfigError || error instanceof MigrationError;
  process.stderr.write(`migrate: ${known ? error.message : String(error)}\n`);
  process.exitCode = error instanceof ConfigError ? 78 : 1;
}
