import { commonConfig, integer, parseConfig } from '@causeway/runtime';
import { z } from 'zod';

/** What `access` reads from its environment. */
export const readConfig = (env: NodeJS.ProcessEnv) =>
  parseConfig(
    {
      ...commonConfig,
      MYSQL_URL: z.string({ error: 'is required' }),
      MYSQL_POOL_SIZE: integer(1, 100).default(5),
      /** What every API key begins with (decisions, "Identifiers, keys, scopes"). */
      API_KEY_PREFIX: z
        .string()
        .regex(/^[A-Za-z0-9]{1,20}$/, 'must be 1 to 20 letters and digits')
        .default('crm'),
      /** Copies of each NATS bucket: 1 on a single server, 3 in a cluster. */
      NATS_REPLICAS: integer(1, 5).default(1),
    },
    env,
  );

export type AccessConfig = ReturnType<typeof readConfig>;
