import { parseKeyRing } from '@causeway/proto';
import { commonConfig, flag, integer } from '@causeway/runtime';
import { z } from 'zod';

/** What the webhooks service reads from its environment. */
export const webhooksConfig = {
  ...commonConfig,
  /** `mysql://user:password@host:port/database` */
  MYSQL_URL: z.string(),
  MYSQL_POOL_SIZE: integer(1, 1000).default(8),
  /** The keys that signing secrets are sealed with: `name:key,name:key`; the first seals, all open. */
  WEBHOOKS_SECRET_KEYS: z.string().transform((text, context) => {
    try {
      return parseKeyRing(text);
    } catch (error) {
      context.issues.push({ code: 'custom', input: '', message: (error as Error).message });
      return z.NEVER;
    }
  }),
  /** Whether plain http is good enough for a subscription's URL. */
  WEBHOOKS_ALLOW_HTTP: flag().default(false),
  /** Whether a subscription's host may be one of a private network. */
  WEBHOOKS_ALLOW_PRIVATE: flag().default(false),
  /** For how many whole days events, deliveries and attempts are kept. */
  RETENTION_DAYS: integer(1, 400).default(30),
  /** Copies of each NATS stream: 1 on a single server, 3 in a cluster. */
  NATS_REPLICAS: integer(1, 5).default(1),
} as const;
