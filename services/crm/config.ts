import { commonConfig, integer } from '@causeway/runtime';
import { z } from 'zod';

export const crmConfig = {
  ...commonConfig,
  /** `mysql://user:password@host:port/database` */
  MYSQL_URL: z.string(),
  /** Connections to MySQL; going far above its number of cores gains nothing. */
  MYSQL_POOL_SIZE: integer(1, 1000).default(8),
  /** `vtgate` if the URL leads to vtgate: then no transaction concerns companies of several shards. */
  MYSQL_SHARDS: z.enum(['none', 'vtgate']).default('none'),
  /** The most calls in one transaction; 1 gives each call its own. */
  WRITE_GROUP_SIZE: integer(1, 256).default(64),
} as const;
