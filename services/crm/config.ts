import { commonConfig, integer, mysqlConfig } from '@causeway/runtime';

export const crmConfig = {
  ...commonConfig,
  ...mysqlConfig(8),
  /** The most calls in one transaction; 1 gives each call its own. */
  WRITE_GROUP_SIZE: integer(1, 256).default(64),
} as const;
