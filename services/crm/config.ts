import { commonConfig, integer } from '@causeway/runtime';
import { z } from 'zod';

/** What the CRM service reads from its environment. */
export const crmConfig = {
  ...commonConfig,
  /** `mysql://user:password@host:port/database` */
  MYSQL_URL: z.string(),
  /** Connections to MySQL; a few more than it has cores gain nothing. */
  MYSQL_POOL_SIZE: integer(1, 1000).default(8),
  /** Calls that one transaction does at most; 1 gives each call one of its own. */
  WRITE_GROUP_SIZE: integer(1, 256).default(64),
} as const;
