import { join } from 'node:path';
import { flag, type MigrationFolder } from '@causeway/runtime';
import { z } from 'zod';

export const migrateConfig = {
  /** This user may change the schema. */
  MYSQL_URL: z.string(),
  /** Whether to grant the services' own users their privileges, or revoke others (`--contract`). */
  MYSQL_GRANTS: flag().default(false),
} as const;

const owners = ['access', 'crm', 'webhooks'] as const;

export const migrationFolders = (root: string): readonly MigrationFolder[] =>
  owners.map((name) => ({ name, folder: join(root, 'services', name, 'migrations') }));
