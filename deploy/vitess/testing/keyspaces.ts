import { setTimeout as sleep } from 'node:timers/promises';
import { parseMysqlUrl } from '@causeway/runtime';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { keyspaceNames, readKeyspace } from '../keyspaces.ts';
import { readPlainSchema, routingRules, shardedSchema } from '../sharded-schema.ts';
import type { VitessCluster } from './cluster.ts';
import type { Tablet } from './tablet.ts';

const copiedWithinMs = 120_000;
const openWithinMs = 30_000;

/** @param plainUrl a plain MySQL with the schema of all migrations */
export const addKeyspaces = async (vitess: VitessCluster, plainUrl: string): Promise<readonly Tablet[]> => {
  const directory = await vitess.addShard('directory', '0');
  const shards = [await vitess.addShard('causeway', '-80'), await vitess.addShard('causeway', '80-')];
  await makeKeyspaces(vitess, plainUrl, { directory, shards });
  return shards;
};

const makeKeyspaces = async (
  { control, document }: Pick<VitessCluster, 'control' | 'document'>,
  plainUrl: string,
  { directory, shards }: { readonly directory: Tablet; readonly shards: readonly Tablet[] },
): Promise<void> => {
  const schema = shardedSchema(await readPlainSchema(plainUrl));
  for (const [{ mysqlUrl }, statements] of [
    [directory, schema.directory] as const,
    ...shards.map((shard) => [shard, schema.causeway] as const),
  ])
    await withConnection(mysqlUrl, async (connection) => {
      for (const statement of statements) await connection.query(statement);
    });
  for (const name of keyspaceNames) {
    await control('ReloadSchemaKeyspace', name);
    await control('ApplyVSchema', '--vschema-file', document(`${name}.json`, readKeyspace(name)), name);
  }
  await control('ApplyRoutingRules', '--rules-file', document('routing-rules.json', routingRules));

  const references = Object.entries(readKeyspace('causeway').tables).flatMap(([name, { type }]) =>
    type === 'reference' ? [name] : [],
  );
  await onceEngineIsOpen(() =>
    control(
      ...['Materialize', '--workflow', 'references', '--target-keyspace', 'causeway', 'create'],
      ...['--source-keyspace', 'directory', '--reference-tables', references.join(',')],
    ),
  );
  for (const table of references) for (const shard of shards) await sameRows(table, directory, shard);
};

/** A primary opens its replication engine some time after the topology names it. */
const onceEngineIsOpen = async (work: () => Promise<unknown>): Promise<void> => {
  for (const endMs = Date.now() + openWithinMs; ; await sleep(500))
    try {
      return void (await work());
    } catch (error) {
      if (Date.now() > endMs || !String(error).includes('vreplication engine is closed')) throw error;
    }
};

/** Waits until Materialize has copied a table. */
const sameRows = async (table: string, from: Tablet, to: Tablet): Promise<void> => {
  const count = ({ mysqlUrl }: Tablet): Promise<number> =>
    withConnection(mysqlUrl, async (connection) => {
      const [rows] = await connection.query<RowDataPacket[]>('SELECT COUNT(*) AS n FROM ??', [table]);
      return Number(rows[0]?.n);
    });
  const wanted = await count(from);
  for (const endMs = Date.now() + copiedWithinMs; (await count(to)) !== wanted; await sleep(200))
    if (Date.now() > endMs) throw new Error(`Materialize did not copy ${table} to ${to.alias}`);
};

/** Creates the tables of one shard on the server of another, which must be empty. */
export const copyTables = (from: Tablet, to: Tablet): Promise<void> =>
  withConnection(from.mysqlUrl, (source) =>
    withConnection(to.mysqlUrl, async (target) => {
      await target.query('SET foreign_key_checks = 0');
      const [names] = await source.query<RowDataPacket[]>("SHOW FULL TABLES WHERE table_type = 'BASE TABLE'");
      for (const row of names) {
        const [[created]] = await source.query<RowDataPacket[]>('SHOW CREATE TABLE ??', [
          Object.values(row)[0],
        ]);
        await target.query(created?.['Create Table']);
      }
    }),
  );

const withConnection = async <Result>(
  url: string,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> => {
  const connection = await createConnection(parseMysqlUrl(url));
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
};
