import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ConfigError, MigrationError, migrate, parseConfig, readEnv } from '@causeway/runtime';
import { applyGrants, applyRevokes } from '../mysql/grants.ts';
import { migrateConfig, migrationFolders } from './config.ts';

// With `--contract`, which a release runs last, it only revokes privileges that earlier releases need. Any
// number may run at once. Exits 78 for an invalid setting and 1 for a failed migration.
try {
  const { MYSQL_URL, MYSQL_GRANTS } = parseConfig(migrateConfig, readEnv());
  const root = resolve(import.meta.dirname, '../..');
  const { values } = parseArgs({ options: { contract: { type: 'boolean', default: false } } });
  if (values.contract) await contract(MYSQL_URL, MYSQL_GRANTS, root);
  else await expand(MYSQL_URL, MYSQL_GRANTS, root);
} catch (error) {
  const known = error instanceof ConfigError || error instanceof MigrationError;
  process.stderr.write(`migrate: ${known ? error.message : String(error)}\n`);
  process.exitCode = error instanceof ConfigError ? 78 : 1;
}

async function expand(url: string, grants: boolean, root: string): Promise<void> {
  const onWait = (file: string) => process.stdout.write(`${file}: its table is in use, trying again\n`);
  const onTriggersRefused = (file: string) =>
    process.stdout.write(
      `${file}: its triggers need log_bin_trust_function_creators; the services work without them (deploy/README.md)\n`,
    );
  const { applied } = await migrate(url, migrationFolders(root), { onWait, onTriggersRefused });
  if (grants) await applyGrants(url, root);
  for (const file of applied) process.stdout.write(`applied ${file}\n`);
  process.stdout.write(applied.length === 0 ? 'nothing to apply\n' : `${applied.length} applied\n`);
}

async function contract(url: string, grants: boolean, root: string): Promise<void> {
  if (!grants) throw new ConfigError('configuration: --contract needs MYSQL_GRANTS=true');
  await applyRevokes(url, root);
  process.stdout.write('privileges of earlier releases revoked\n');
}
