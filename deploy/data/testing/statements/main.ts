import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { migrate, readEnv } from '@causeway/runtime';
import { startMysql } from '../../../local/mysql.ts';
import { terminalReport } from '../../../local/report.ts';
import { providePrograms } from '../../../local/toolchain/provide.mjs';
import { readToolchain } from '../../../local/toolchain.ts';
import { migrationFolders } from '../../../migrate/folders.ts';
import { clusterPrograms, startVitess } from '../vitess/cluster.ts';
import { addKeyspaces } from '../vitess/keyspaces.ts';
import { vitessPrograms } from '../vitess/programs.ts';
import { explain } from './explain.ts';
import { type Listed, listFile, readList, readNotes, renderList } from './list.ts';
import { normalize } from './normalize.ts';
import { withoutVariants } from './variants.ts';

// Writes the list of statements, `statements.txt`: those listed and those in the folders of notes that are the arguments,
// with what Vitess's planner says of each. `--only` leaves out those that are not in the notes.

const { step } = terminalReport;

/** Starts Vitess with the schema of the migrations. @returns what vtgate says of each statement. */
const askVitess = async (statements: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  const env = readEnv();
  const cache = dirname(env.CAUSEWAY_TOOLCHAIN ?? '');
  const programs = await vitessPrograms(env, cache, clusterPrograms);
  const { etcd } = await providePrograms(cache, { etcd: 'etcd-server' });
  const { mysqld } = readToolchain(env);
  if (!mysqld) throw new Error('This starts MySQL servers of its own: unset MYSQL_URL and run it again.');
  const home = mkdtempSync(join(tmpdir(), 'causeway-statements-'));
  const ends: (() => Promise<void>)[] = [];
  try {
    const plain = await step('MySQL with the schema', async () => {
      const server = await startMysql({ home: join(home, 'plain'), program: mysqld });
      ends.unshift(() => server.stop());
      await migrate(server.url, migrationFolders(resolve(import.meta.dirname, '../../../..')));
      return server;
    });
    const vitess = await step('etcd and vtctld', () => startVitess({ home, programs, etcd, mysqld }));
    ends.unshift(() => vitess.stop());
    await step('MySQL and vttablet of three shards', () => addKeyspaces(vitess, plain.url));
    await step('vtgate', () => vitess.startGate());
    return await step(`${statements.length} statements`, () => explain(vitess.url, statements));
  } finally {
    for (const end of ends) await end();
    rmSync(home, { recursive: true, force: true });
  }
};

const args = process.argv.slice(2);
const folders = args.filter((one) => !one.startsWith('--'));
const reasons = new Map<string, string>();
if (!args.includes('--only'))
  for (const { statement, reason } of readList()) reasons.set(normalize(statement), reason);
for (const [statement, { reason = '' }] of readNotes(folders))
  if (reason || !reasons.has(statement)) reasons.set(statement, reason);

const statements = withoutVariants([...reasons.keys()]);
const verdicts = await askVitess(statements);
const list = statements.map(
  (statement): Listed => ({
    statement,
    verdict: verdicts.get(statement)!,
    reason: reasons.get(statement)!,
  }),
);
writeFileSync(listFile, renderList(list));
const counts = Map.groupBy(list, ({ verdict }) => verdict.split(' ')[0]!);
for (const [verdict, some] of [...counts].sort((a, b) => b[1].length - a[1].length))
  process.stdout.write(`${String(some.length).padStart(4)} ${verdict}\n`);
