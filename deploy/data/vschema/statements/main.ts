import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { migrate, readEnv } from '@causeway/runtime';
import { startMysql } from '../../../local/mysql.ts';
import { readToolchain } from '../../../local/toolchain.ts';
import { migrationFolders } from '../../../migrate/folders.ts';
import { vitessPrograms } from '../../vitess/programs.ts';
import { readPlainSchema, shardedSchema } from '../sharded-schema.ts';
import { compare } from './compare.ts';
import { explain } from './explain.ts';
import { type Listed, listFile, readList, readNotes, renderList } from './list.ts';

// Writes the list of statements, `statements.txt`: those listed and those in the folders of notes that are the arguments,
// with what Vitess's planner says of each. `--only` leaves out those that are not in the notes. `--check` writes nothing,
// and exits 1 if a noted statement is not listed.

const args = process.argv.slice(2);
const folders = args.filter((one) => !one.startsWith('--'));
if (args.includes('--check')) {
  const lines = folders.flatMap(compare);
  for (const line of lines) process.stdout.write(`${line}\n`);
  process.exit(lines.length === 0 ? 0 : 1);
}
const env = readEnv();
const { vtexplain } = await vitessPrograms(env, dirname(env.CAUSEWAY_TOOLCHAIN ?? ''), ['vtexplain']);

const statements = new Map<string, string>();
if (!args.includes('--only'))
  for (const { statement, reason } of readList()) statements.set(statement, reason);
for (const folder of folders)
  for (const [statement, reason] of readNotes(folder))
    if (reason || !statements.has(statement)) statements.set(statement, reason);

const home = mkdtempSync(join(tmpdir(), 'causeway-statements-'));
// Where any user can start it: Vitess refuses to run as root.
const program = join(mkdtempSync(join(tmpdir(), 'causeway-vtexplain-')), 'vtexplain');
chmodSync(dirname(program), 0o755);
copyFileSync(vtexplain, program);
const { mysqld } = readToolchain(env);
if (!mysqld) throw new Error('no mysqld in the toolchain');
const mysql = await startMysql({ home, program: mysqld });
try {
  await migrate(mysql.url, migrationFolders(resolve(import.meta.dirname, '../../../..')));
  const { directory, causeway } = shardedSchema(await readPlainSchema(mysql.url));
  const schema = [...directory, ...causeway].filter((one) => one.startsWith('CREATE'));
  const verdicts = await explain(program, schema, [...statements.keys()]);
  const list = [...statements].map(
    ([statement, reason]): Listed => ({ statement, verdict: verdicts.get(statement) ?? '', reason }),
  );
  writeFileSync(listFile, renderList(list));
  const counts = Map.groupBy(list, ({ verdict }) => verdict.split(' ')[0]!);
  for (const [verdict, some] of [...counts].sort((a, b) => b[1].length - a[1].length))
    process.stdout.write(`${String(some.length).padStart(4)} ${verdict}\n`);
} finally {
  await mysql.stop();
  for (const folder of [home, dirname(program)]) rmSync(folder, { recursive: true, force: true });
}
