import { join } from 'node:path';
import { makeEnds } from '../load/driver.ts';
import { describeMachine, type Table, toTerminal, writeResults } from '../load/report.ts';
import { runApiTests } from './api-tests.ts';
import { compareRates } from './rates.ts';
import { reshardUnderLoad } from './reshard.ts';
import {
  type Outcome,
  openStage,
  type Part,
  parts,
  root,
  type ScaleOutContext,
  type Stage,
} from './stage.ts';

const run: Readonly<Record<Part, (stage: Stage) => Promise<Outcome>>> = {
  api: runApiTests,
  rates: compareRates,
  reshard: reshardUnderLoad,
};

/** @returns whether every part passed. */
export const scaleOut = async (context: ScaleOutContext): Promise<boolean> => {
  const { report, options } = context;
  const stage = await openStage(context);
  const tables: Table[] = [];
  const complaints: string[] = [];
  for (const part of parts.filter((one) => options.parts.includes(one))) {
    // Its services end with it: those of two parts would take each other's events, of which they have other keys.
    const { onEnd, end } = makeEnds();
    context.onEnd(end);
    const outcome = await run[part]({ ...stage, onEnd });
    await end();
    for (const table of outcome.tables) process.stdout.write(`${toTerminal(table)}\n`);
    tables.push(...outcome.tables);
    complaints.push(...outcome.complaints.map((complaint) => `${part}: ${complaint}`));
  }
  for (const complaint of complaints) report.line(`✗ ${complaint}`);
  if (complaints.length > 0) return false;
  stage.pass();
  if (options.write) await write(context, tables);
  return true;
};

const write = async (
  { mysqld, natsServer, wrk, programs, options }: ScaleOutContext,
  tables: readonly Table[],
) => {
  const machine = await describeMachine({
    ...{ MySQL: mysqld, 'nats-server': natsServer, wrk },
    Vitess: { command: programs.vtgate, args: [] },
  });
  writeResults(
    'scale-out',
    howMeasured(options),
    [machine, ...tables.filter(({ isDetail }) => !isDetail)],
    results,
  );
};

const results = {
  file: join(root, 'deploy', 'vitess', 'RESULTS.md'),
  head: `# Results

The figures of one run of \`npm run scale-out -- --write\`. Ratios can be compared between machines, absolute figures
cannot.
`,
};

const howMeasured = ({ rate, rounds, seconds }: ScaleOutContext['options']): string => `
The whole system as \`npm start\` runs it, one process of each service, on Vitess: etcd, vtctld, one vtgate with
\`--transaction-mode=SINGLE\`, the unsharded keyspace \`directory\` and the sharded keyspace \`causeway\` with two shards.
Each shard is one MySQL server with one vttablet, without replicas. Everything shares one machine.

Rates: creates (\`POST /integrations/leads\`) and lookups (\`GET /integrations/lookups/employees\`) on Vitess and on one
plain MySQL server with the same settings (binary log with GTIDs, each commit flushed to the disk), in alternate turns,
${rounds} of ${seconds} s each after a warm-up. The figures are medians of the turns, with minimum and maximum in parentheses.
The machine is the same for both: the figures show what Vitess costs, not what several machines gain.

Reshard: ${rate} creates a second, in companies of all four new shards, and lookups, while two shards become four. Each company
has a subscription with a real receiver. No request may fail, every created client is in the database, each event arrives
once, and no other event arrives.
`;
