import { flag } from '@causeway/runtime';
import { z } from 'zod';

/** Settings that the migration job reads from its environment. */
export const migrateConfig = {
  /** `mysql://user:password@host:port/database`; this user may change the schema. */
  MYSQL_URL: z.string(),
  /** Whether to grant the services' own users their privileges on the current tables, or revoke others (`--contract`). */
  MYSQL_GRANTS: flag().default(false),
} as const;
