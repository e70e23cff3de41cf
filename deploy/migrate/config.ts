import { join } from 'node:path';
import { flag, type MigrationFolder } from '@causeway/runtime';
import { z } from 'zod';

/** Settings that the migration job reads from its environment. */
export const migrateConfig = {
  /** `mysql://user:password@host:port/database`; this user may change the schema. */
  MYSQL_URL: z.string(),
  /** Whether to grant the services' own users their privileges on the current tables, or revoke others (`--contract`). */
  MYSQL_GRANTS: flag().default(false),
} as const;

/** The services that own tables, in the order of creation. */
const owners = ['access', 'crm', 'webhooks'] as const;

/** The migrations of the whole system. @param root the repository, or its copy in the image. */
export const migrationFolders = (root: string): readonly MigrationFolder[] =>
  owners.map((name) => ({ name, folder: join(root, 'services', name, 'migrations') }));
