import { join } from 'node:path';
import { parseMysqlUrl } from '@causeway/runtime';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { type ReshardTimes, reshard } from '../../deploy/vitess/testing/reshard.ts';
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
