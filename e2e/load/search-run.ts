import { startMysql } from '../../deploy/local/servers.ts';
import type { BenchContext } from './context.ts';
import { makeHome } from './ends.ts';
import { benchSearch } from './search/bench.ts';

/** Holds the whole data set, so that the bench measures the search and not the disk. */
const bufferPoolMiB = 3072;

/** Measures the client search, on a MySQL server of its own. */
export const runSearch = async ({ toolchain, onEnd, say }: BenchContext): Promise<void> => {
  const home = makeHome(onEnd);
  const mysql = await startMysql({ home, program: toolchain.mysqld, bufferPoolMiB });
  onEnd(() => mysql.stop());
  say('filling the database with two million clients; this takes minutes …');
  await benchSearch(mysql.url);
};
