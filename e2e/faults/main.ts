import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { readEnv } from '@causeway/runtime';
import { SetupError } from '../../deploy/local/setup-error.ts';
import { giveUp } from '../../deploy/local/toolchain/terminal.mjs';
import { readToolchain } from '../../deploy/local/toolchain.ts';
import { makeEnds } from '../load/driver.ts';
import { describeMachine, type Table, toTerminal } from '../load/report.ts';
import { ownMounts } from './disks.ts';
import type { Fault } from './fault.ts';
import type { Attack } from './hostile/attack.ts';
import { jsonKeys } from './hostile/json-keys.ts';
import type { AttackResult } from './hostile/measure.ts';
import { signInFloods } from './hostile/sign-ins.ts';
import { slowCompany } from './hostile/slow-company.ts';
import { callerTable, processTable } from './hostile/tables.ts';
import { clocks } from './kinds/clock.ts';
import { commits } from './kinds/commit.ts';
import { cuts } from './kinds/cut.ts';
import { disks } from './kinds/disk.ts';
import { freezes } from './kinds/freeze.ts';
import { kills } from './kinds/kill.ts';
import { locks } from './kinds/lock.ts';
import { payloads } from './kinds/payload.ts';
import { restarts } from './kinds/restart.ts';
import { settings } from './kinds/settings.ts';
import { vanishing } from './kinds/vanish.ts';
import { tableOf, writeFaults } from './report.ts';
import type { FaultResult } from './run.ts';
import { runAttacks, runFaults } from './run-all.ts';

const faultKinds: Readonly<Record<string, readonly Fault[]>> = {
  restart: restarts,
  kill: kills,
  freeze: freezes,
  cut: cuts,
  vanish: vanishing,
  disk: disks,
  clock: clocks,
  commit: commits,
  settings,
  lock: locks,
  payload: payloads,
};
/** The last one leaves a backlog. */
const attacks: readonly Attack[] = [jsonKeys, ...signInFloods, slowCompany];
const kinds: Readonly<Record<string, readonly { readonly name: string }[]>> = {
  ...faultKinds,
  hostile: attacks,
};
const names = Object.values(kinds)
  .flat()
  .map(({ name }) => name);

const usage = `Usage: npm run faults -- [options] [part of a fault's name …]

  Runs faults one after another on a cluster under load: all of them, or those whose names contain one of the given
  parts. Clients of several companies write down what they send and are answered; afterwards these histories are checked
  against the sentences of proto/CONTRACT.md. Most run on three NATS servers and several processes of each service. Attacks (--only hostile) run on one
  process of each, with limits on the effect on healthy callers and on memory.

  --list        list the faults
  --only KIND   ${Object.keys(kinds).join(', ')}
  --write       write the measurements of passed faults to e2e/faults/RESULTS.md
  --rate N      creates per second (40, beside attacks 10); on a machine that the load keeps busy, a part of it
  --seed N      repeat the choices of the clients of an earlier run
  --busy        judge nothing that depends on the speed of the machine
`;

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      list: { type: 'boolean', default: false },
      only: { type: 'string' },
      write: { type: 'boolean', default: false },
      rate: { type: 'string' },
      seed: { type: 'string' },
      busy: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const rate = values.rate === undefined ? undefined : Number(values.rate);
  if (rate !== undefined && !(rate >= 1 && rate <= 1000))
    throw new SetupError(`--rate takes a number from 1 to 1000, not "${values.rate}".`);
  const ofKind = values.only === undefined ? names : kinds[values.only]?.map(({ name }) => name);
  if (!ofKind) throw new SetupError(`--only takes ${Object.keys(kinds).join(', ')}, not "${values.only}".`);
  const chosen = new Set(
    ofKind.filter((name) => positionals.length === 0 || positionals.some((part) => name.includes(part))),
  );
  if (values.help || values.list || chosen.size === 0) {
    process.stdout.write(values.help ? usage : `${names.join('\n')}\n`);
    return chosen.size === 0 ? 1 : 0;
  }

  const env = readEnv();
  if (!env[ownMounts]) return runWithOwnMounts(env);
  const { mysqld, natsServer } = readToolchain(env);
  if (!mysqld || !natsServer)
    throw new SetupError(
      'Faults run on servers of their own: unset MYSQL_URL and NATS_URL and run the command again.',
    );
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const { onEnd, end } = makeEnds();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void end().then(() => process.exit(130)));
  const isChosen = ({ name }: { readonly name: string }) => chosen.has(name);
  const seed = values.seed === undefined ? {} : { seed: Number(values.seed) };
  const options = { env, say, onEnd, isBusy: values.busy, ...seed };
  const results: FaultResult[] = [];
  const attacked: AttackResult[] = [];
  try {
    const faults = Object.values(faultKinds).flat().filter(isChosen);
    await runFaults(faults, { ...options, createsPerSecond: rate ?? 40 }, (result) => results.push(result));
    await runAttacks(attacks.filter(isChosen), { ...options, createsPerSecond: rate ?? 10 }, (result) => {
      results.push(result);
      attacked.push(result);
    });
  } finally {
    for (const table of tablesOf(results, attacked))
      if (table.rows.length > 0) process.stdout.write(toTerminal(table));
    await end();
  }
  const isFine = ({ complaints }: FaultResult) => complaints.length === 0;
  if (values.write)
    writeFaults(
      tablesOf(results.filter(isFine), attacked.filter(isFine)),
      await describeMachine({ 'nats-server': natsServer, MySQL: mysqld }),
      names,
    );
  const failed = results.filter((result) => !isFine(result));
  for (const { name, complaints } of failed) say(`✗ ${name}: ${complaints.length} complaints, above`);
  say(`${results.length - failed.length} of ${results.length} faults passed`);
  return failed.length === 0 ? 0 : 1;
};

/** Runs this program again where its mounts are seen by it and its children alone, and end with them. */
const runWithOwnMounts = async (env: NodeJS.ProcessEnv): Promise<number> => {
  const user = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const again = [...user, '--mount', process.execPath, ...process.argv.slice(1)];
  const child = spawn('unshare', again, { stdio: 'inherit', env: { ...env, [ownMounts]: 'yes' } });
  // The terminal sends it to both.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  const [code] = await once(child, 'exit');
  return code ?? 1;
};

const tablesOf = (results: readonly FaultResult[], attacked: readonly AttackResult[]): readonly Table[] => [
  tableOf(results),
  processTable(attacked),
  callerTable(attacked),
];

await main().then((code) => process.exit(code), giveUp);
