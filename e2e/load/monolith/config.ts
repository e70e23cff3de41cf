import { integer } from '@causeway/runtime';
import { z } from 'zod';

/** The environment variables of the reference, named as those of the cluster. */
export const monolithConfig = {
  HOST: z.string().default('127.0.0.1'),
  PORT: integer(0, 65535).default(0),
  MYSQL_URL: z.string(),
  MYSQL_POOL_SIZE: integer(1, 1000).default(10),
  REDIS_URL: z.string(),
  RATE_LIMIT_READ: integer(1, 1_000_000_000).default(60),
  RATE_LIMIT_WRITE: integer(1, 1_000_000_000).default(100),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
} as const;

export type MonolithConfig = z.output<z.ZodObject<typeof monolithConfig>>;
