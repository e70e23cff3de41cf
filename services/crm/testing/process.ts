import { join } from 'node:path';
import { testProcess } from '@causeway/runtime/testing';
import type { BootedCrm } from './boot.ts';

/** A replica that can be killed. */
export const startCrmProcess = (
  { database, nats }: Pick<BootedCrm, 'database' | 'nats'>,
  env: NodeJS.ProcessEnv,
) =>
  testProcess({
    entry: join(import.meta.dirname, '../main.ts'),
    env: { ...env, MYSQL_URL: database.url, NATS_URL: nats.url, LOG_LEVEL: 'warn' },
  });
