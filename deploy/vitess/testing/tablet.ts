import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseMysqlUrl } from '@causeway/runtime';
import { startMysql } from '../../local/mysql.ts';
import { freePorts } from '../../local/ports.ts';
import type { MysqldProgram, Program } from '../../local/toolchain.ts';
import { isOk, type Processes, type Started } from './processes.ts';

export interface Tablet {
  readonly alias: string;
  readonly shard: string;
  /** Of the MySQL server itself, past Vitess, with the shard's database. */
  readonly mysqlUrl: string;
  stop(): Promise<void>;
}

/** The users that a tablet signs in as; here all are one. */
const users = ['app', 'allprivs', 'dba', 'repl', 'filtered', 'appdebug'];
const primaryWithinMs = 120_000;
const mysqlMiB = 128;
/** More than the 50,000 queues that a dispatcher reads to free the leases of another; 10,000 by default. */
const maxResultRows = 100_000;

export const startTablet = async (options: TabletOptions): Promise<Tablet> => {
  const { home, keyspace, shard, number, processes, control, started } = options;
  const name = `${keyspace}/${shard}`;
  const alias = `${options.cell}-${String(number).padStart(10, '0')}`;
  const database = `vt_${keyspace}`;
  const mysql = await startMysql({
    home: join(home, `mysql-${number}`),
    program: options.mysqld,
    database,
    bufferPoolMiB: mysqlMiB,
    gtids: true,
  });
  started.set(`mysql ${name}`, mysql);

  const { port, user, password } = parseMysqlUrl(mysql.url);
  const credentials = join(home, 'work', `credentials-${number}.json`);
  // `nobody` reads it; the folder is removed at the end.
  writeFileSync(credentials, JSON.stringify({ [user]: [password] }), { mode: 0o644 });
  const [web = 0, grpc = 0] = await freePorts(2);
  const tablet = await processes.start(
    `vttablet-${number}`,
    options.program,
    [
      ...options.options,
      ...['--tablet-path', alias, '--tablet-hostname', '127.0.0.1'],
      ...['--port', `${web}`, '--grpc-port', `${grpc}`],
      ...['--init-keyspace', keyspace, '--init-shard', shard, '--init-tablet-type', 'replica'],
      // It does not start, stop or configure the MySQL server.
      '--unmanaged',
      ...['--init-db-name-override', database, '--db-host', '127.0.0.1', '--db-port', `${port}`],
      ...users.flatMap((name) => [`--db-${name}-user`, user]),
      ...['--db-credentials-file', credentials, '--db-charset', 'utf8mb4'],
      ...['--service-map', 'grpc-queryservice,grpc-tabletmanager,grpc-updatestream'],
      ...['--queryserver-config-pool-size', '50', '--queryserver-config-transaction-cap', '200'],
      ...['--queryserver-config-max-result-size', `${maxResultRows}`],
    ],
    () => isOk(`http://127.0.0.1:${web}/debug/vars`),
  );
  started.set(`vttablet ${name}`, tablet);
  await becomePrimary(alias, name, control);
  return {
    alias,
    shard,
    mysqlUrl: mysql.url,
    stop: async () => {
      await tablet.stop();
      await mysql.stop();
      started.delete(`vttablet ${name}`);
      started.delete(`mysql ${name}`);
    },
  };
};

/** The tablet registers itself some time after its start, and writes that it is the primary some time later. */
const becomePrimary = async (
  alias: string,
  shard: string,
  control: TabletOptions['control'],
): Promise<void> => {
  const reparent = () => control('TabletExternallyReparented', alias).then(() => true);
  const isPrimary = async () => /"primary_alias": \{/.test(await control('GetShard', shard));
  const endMs = Date.now() + primaryWithinMs;
  for (const done of [reparent, isPrimary]) {
    for (let failure: unknown; ; await sleep(500)) {
      if (
        await done().catch((error: unknown) => {
          failure = error;
          return false;
        })
      )
        break;
      if (Date.now() > endMs)
        throw new Error(`${alias} did not become the primary of ${shard}`, { cause: failure });
    }
  }
};

interface TabletOptions {
  readonly home: string;
  readonly mysqld: MysqldProgram;
  readonly program: Program;
  readonly cell: string;
  readonly keyspace: string;
  readonly shard: string;
  readonly number: number;
  readonly options: readonly string[];
  readonly processes: Processes;
  readonly control: (...args: string[]) => Promise<string>;
  /** Receives what was started, to stop it in reverse order. */
  readonly started: Map<string, Started>;
}
