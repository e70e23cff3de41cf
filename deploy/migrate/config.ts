import { z } from 'zod';

/** What the migration job reads from its environment. */
export const migrateConfig = {
  /** `mysql://user:password@host:port/database`; this user may change the schema. */
  MYSQL_URL: z.string(),
} as const;
