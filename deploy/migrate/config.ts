import { flag } from '@causeway/runtime';
import { z } from 'zod';

/** What the migration job reads from its environment. */
export const migrateConfig = {
  /** `mysql://user:password@host:port/database`; this user may change the schema. */
  MYSQL_URL: z.string(),
  /** Whether the services have users of their own, which are given what they need of the tables that are there now. */
  MYSQL_GRANTS: flag().default(false),
} as const;
