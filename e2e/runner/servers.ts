import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnv } from '@causeway/runtime';
import type { TestProject } from 'vitest/node';
import { startMysql } from '../../deploy/local/mysql.ts';
import { readToolchain } from '../../deploy/local/toolchain.ts';

/** One MySQL for the run, and the nats-server program, of which tests start their own. */
export default async ({ provide }: TestProject): Promise<() => Promise<void>> => {
  const env = readEnv();
  const toolchain = readToolchain(env);
  provide('natsServer', toolchain.natsServer?.command ?? '');
  provide('scratch', scratch());
  if (env.MYSQL_URL) {
    provide('mysqlUrl', env.MYSQL_URL);
    return async () => {};
  }
  if (!toolchain.mysqld) throw new Error('no mysqld in the toolchain');
  const home = mkdtempSync(join(scratch(), 'causeway-test-mysql-'));
  const removeHome = () => rmSync(home, { recursive: true, force: true });
  try {
    const mysql = await startMysql({ home, program: toolchain.mysqld });
    provide('mysqlUrl', mysql.url);
    return async () => {
      await mysql.stop();
      removeHome();
    };
  } catch (error) {
    removeHome();
    throw error;
  }
};

const memory = '/dev/shm';
const neededBytes = 3 * 2 ** 30;

/**
 * In memory if there is plenty: the tests' databases and streams need no disk, where unpacking a download beside them
 * makes them wait for half a minute.
 */
export const scratch = (): string => {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= neededBytes ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
};
