import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseMysqlUrl } from '@causeway/runtime';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import type { VitessCluster } from '../../deploy/vitess/testing/cluster.ts';
import { copyTables } from '../../deploy/vitess/testing/keyspaces.ts';
import type { Tablet } from '../../deploy/vitess/testing/tablet.ts';
import { openReceiver } from '../faults/receiver.ts';
import { runFault } from '../faults/run.ts';
import { openPlace } from '../faults/scene.ts';
import { seconds } from '../load/report.ts';
import type { Outcome, Stage } from './stage.ts';

/** Enough that some belong to each of the four new shards. */
const companies = 24;
const ranges = ['-40', '40-80', '80-c0', 'c0-'];
/** How long the load goes on after the switch. */
const afterMs = 10_000;

/** Makes four shards of two while clients are created, and expects that nobody notices. */
export const reshardUnderLoad = async (stage: Stage): Promise<Outcome> => {
  const { vitess, shards, report, onEnd, options } = stage;
  const receiver = await openReceiver();
  onEnd(() => receiver.close());
  const place = await openPlace({ home: join(stage.home, 'reshard'), env: stage.onVitess, report, onEnd });
  const targets: Tablet[] = [];
  await report.step('MySQL and vttablet of four new shards', async () => {
    for (const range of ranges) targets.push(await vitess.addShard('causeway', range));
  });

  let times: ReshardTimes | undefined;
  const findings = await runFault(
    place,
    receiver,
    receiver.url,
    {
      name: 'reshard from two shards to four',
      act: async () => {
        times = await reshard(vitess, shards, targets);
        for (const old of shards) await old.stop();
        return `copied in ${seconds(times.copyMs)}, switched in ${seconds(times.switchMs)}`;
      },
      lastsMs: afterMs,
      unnoticed: true,
      bounds: { repeatedAtMost: 0 },
    },
    { createsPerSecond: options.rate, companies, say: report.line },
  );
  const rows = await Promise.all(targets.map(clientsIn));
  const empty = targets.filter((_, at) => rows[at] === 0).map(({ shard }) => `shard ${shard} has no clients`);
  return {
    tables: [
      {
        title: 'Reshard from two shards to four under load',
        columns: ['', ''],
        rows: [
          ['copy of all rows', seconds(times?.copyMs ?? 0)],
          ['switch of the traffic', seconds(times?.switchMs ?? 0)],
          ['requests', `${findings.requests}`],
          ['failed requests', `${Object.values(findings.failures).reduce((sum, one) => sum + one, 0)}`],
          ['slowest request', seconds(findings.slowestMs)],
          ['events', `${findings.deliveries - findings.repeated}`],
          ['events that arrived more than once', `${findings.repeated}`],
          ['latest delivery', seconds(findings.latestMs)],
          ['clients in the new shards', rows.join(', ')],
        ],
      },
    ],
    complaints: [...findings.complaints, ...empty],
  };
};

const clientsIn = async ({ mysqlUrl }: Tablet): Promise<number> => {
  const connection = await createConnection(parseMysqlUrl(mysqlUrl));
  try {
    const [rows] = await connection.query<RowDataPacket[]>('SELECT COUNT(*) AS n FROM clients');
    return Number(rows[0]?.n);
  } finally {
    await connection.end();
  }
};

interface ReshardTimes {
  readonly copyMs: number;
  readonly switchMs: number;
}

const copiedWithinMs = 600_000;

/** The keyspace serves meanwhile. @param targets shards without tables, which cover the same key ranges */
const reshard = async (
  { control }: Pick<VitessCluster, 'control'>,
  sources: readonly Tablet[],
  targets: readonly Tablet[],
): Promise<ReshardTimes> => {
  const run = (...args: string[]) =>
    control('Reshard', '--workflow', 'grow', '--target-keyspace', 'causeway', ...args);
  const names = (tablets: readonly Tablet[]) => tablets.map(({ shard }) => shard).join(',');
  const [first] = sources;
  if (!first) throw new Error('no shard to move rows from');

  const startedMs = performance.now();
  for (const target of targets) await copyTables(first, target);
  for (const { alias } of targets) await control('ReloadSchema', alias);
  await run(
    ...['create', '--source-shards', names(sources), '--target-shards', names(targets)],
    // Vitess would create tables before those that they reference, and keys that foreign keys need after the copy.
    ...['--skip-schema-copy', '--defer-secondary-keys=false'],
  );
  let copiedMs = 0;
  // A stream that has not begun says that it runs.
  for (let isSwitched = false; !isSwitched; ) {
    await copied(run);
    copiedMs = performance.now();
    isSwitched = await run('switchtraffic').then(
      () => true,
      (error: Error) => {
        if (!/copy is still in progress/.test(error.message)) throw error;
        return false;
      },
    );
  }
  const switchedMs = performance.now();
  await run('complete');
  return { copyMs: copiedMs - startedMs, switchMs: switchedMs - copiedMs };
};

interface Status {
  readonly table_copy_state?: Readonly<Record<string, unknown>>;
  readonly shard_streams?: Readonly<
    Record<string, { readonly streams: readonly { readonly status: string; readonly info?: string }[] }>
  >;
}

const copied = async (run: (...args: string[]) => Promise<string>): Promise<void> => {
  for (const endMs = Date.now() + copiedWithinMs; ; await sleep(1_000)) {
    const status = JSON.parse(await run('--format', 'json', 'status')) as Status;
    const streams = Object.values(status.shard_streams ?? {}).flatMap((shard) => shard.streams);
    const waits = Object.keys(status.table_copy_state ?? {}).length > 0;
    if (!waits && streams.length > 0 && streams.every((stream) => stream.status === 'Running')) return;
    const failed = streams.find((stream) => stream.status === 'Error');
    if (failed || Date.now() > endMs)
      throw new Error(`the new shards did not copy their rows: ${failed?.info ?? JSON.stringify(streams)}`);
  }
};
