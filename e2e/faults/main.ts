import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readEnv } from '@causeway/runtime';
import { terminalReport } from '../../deploy/local/report.ts';
import { giveUp } from '../../deploy/local/toolchain/terminal.mjs';
import { readToolchain } from '../../deploy/local/toolchain.ts';
import { Unprovided } from '../../deploy/local/unprovided.ts';
import { makeEnds } from '../load/ends.ts';
import { describeMachine } from '../load/report/machine.ts';
import { toTerminal } from '../load/report/table.ts';
import { noteArrivals } from './arrivals.ts';
import type { Fault } from './fault.ts';
import { clocks } from './kinds/clock.ts';
import { cuts } from './kinds/cut.ts';
import { disks } from './kinds/disk.ts';
import { freezes } from './kinds/freeze.ts';
import { kills } from './kinds/kill.ts';
import { restarts } from './kinds/restart.ts';
import { tableOf } from './report.ts';
import { type FaultResult, runFault } from './run.ts';
import { openScene } from './scene.ts';
import { writeFaults } from './write.ts';

const faults: readonly Fault[] = [...restarts, ...kills, ...freezes, ...cuts, ...disks, ...clocks];

const usage = `Usage: npm run faults -- [options] [part of a fault's name …]

  Starts a cluster of three NATS servers and several of each service, and lets one fault after the other
  happen to it under load: all of them, or those whose names contain one of the given parts.

  --list      names the faults
  --write     puts what was measured into e2e/faults/RESULTS.md, where nothing went amiss
  --rate N    creates begun in a second (40)
`;

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      list: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      rate: { type: 'string', default: '40' },
      help: { type: 'boolean', default: false },
    },
  });
  const createsPerSecond = Number(values.rate);
  if (!(createsPerSecond >= 1 && createsPerSecond <= 1000))
    throw new Unprovided(`--rate takes a number from 1 to 1000, not "${values.rate}".`);
  const chosen = faults.filter(
    ({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)),
  );
  if (values.help || values.list || chosen.length === 0) {
    process.stdout.write(values.help ? usage : `${faults.map(({ name }) => name).join('\n')}\n`);
    return chosen.length === 0 ? 1 : 0;
  }

  const env = readEnv();
  const { mysqld, natsServer } = readToolchain(env);
  if (!mysqld || !natsServer)
    throw new Unprovided(
      'The faults happen to servers of their own: unset MYSQL_URL and NATS_URL and run the command again.',
    );
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const { onEnd, end } = makeEnds();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void end().then(() => process.exit(130)));
  const results: FaultResult[] = [];
  try {
    const home = mkdtempSync(join(tmpdir(), 'causeway-faults-'));
    onEnd(async () => {
      // What the processes said is worth keeping where something is to be found out.
      if (results.length === chosen.length && results.every(({ complaints }) => complaints.length === 0))
        rmSync(home, { recursive: true, force: true });
      else say(`logs: ${home}/logs`);
    });
    const scene = await openScene({ home, env, report: terminalReport, onEnd });
    const arrivals = await noteArrivals();
    onEnd(() => arrivals.close());
    const port = await scene.links.port('dispatchers', 'receiver', Number(new URL(arrivals.url).port));
    for (const fault of chosen) {
      const result = await runFault(scene, arrivals, `http://127.0.0.1:${port}`, fault, {
        createsPerSecond,
        say,
      });
      results.push(result);
      for (const complaint of result.complaints) say(`    ✗ ${complaint}`);
    }
  } finally {
    process.stdout.write(toTerminal(tableOf(results)));
    await end();
  }
  const failed = results.filter(({ complaints }) => complaints.length > 0);
  if (values.write)
    writeFaults(
      tableOf(results.filter((result) => !failed.includes(result))),
      await describeMachine({ 'nats-server': natsServer, MySQL: mysqld }),
      faults.map(({ name }) => name),
    );
  for (const { name, complaints } of failed) say(`✗ ${name}: ${complaints.join('; ')}`);
  say(`${results.length - failed.length} of ${results.length} faults left nothing behind`);
  return failed.length === 0 ? 0 : 1;
};

await main().then((code) => process.exit(code), giveUp);
