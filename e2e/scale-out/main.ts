import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { readEnv } from '@causeway/runtime';
import { terminalReport } from '../../deploy/local/report.ts';
import { SetupError } from '../../deploy/local/setup-error.ts';
import { providePrograms } from '../../deploy/local/toolchain/provide.mjs';
import { giveUp } from '../../deploy/local/toolchain/terminal.mjs';
import { readToolchain } from '../../deploy/local/toolchain.ts';
import { clusterPrograms } from '../../deploy/vitess/testing/cluster.ts';
import { MissingProgram, vitessPrograms } from '../../deploy/vitess/testing/programs.ts';
import { makeEnds } from '../load/driver.ts';
import { scaleOut } from './run.ts';
import { type Part, parts, type ScaleOutContext } from './stage.ts';

const usage = `Usage: npm run scale-out -- [options] [${parts.join('|')} …]

  Runs the whole system on Vitess with two shards: the API tests, with the plan of each statement that they cause,
  rates and CPU time beside plain MySQL, and a reshard from two shards to four under load, in which no request may fail and no event may be lost or delivered twice. Or
  only the given parts.

  --write        write the figures to deploy/vitess/RESULTS.md
  --tests PART   runs only the API tests whose path contains this; may be repeated for several
  --rate N       creates per second during the reshard (20)
  --rounds N     turns of each measurement, after a warm-up (5)
  --seconds N    length of a turn (6)

  Exits 0 if everything passed, 1 if something failed, 69 if a program is missing here.

Environment
  VITESS_BIN     a folder with ${clusterPrograms.join(', ')}; without it, Go builds them
`;

/** EX_UNAVAILABLE of sysexits.h: a program that this needs does not exist here. */
const unavailable = 69;
/** The API tests take most of it. */
const boundMs = 90 * 60_000;

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      write: { type: 'boolean', default: false },
      tests: { type: 'string', multiple: true, default: [] },
      rate: { type: 'string', default: '20' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '6' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const number = (name: 'rate' | 'rounds' | 'seconds', most: number): number => {
    const value = Number(values[name]);
    if (Number.isInteger(value) && value >= 1 && value <= most) return value;
    throw new SetupError(`--${name} takes a whole number from 1 to ${most}, not "${values[name]}".`);
  };
  const unknown = positionals.find((name) => !parts.some((part) => part === name));
  if (unknown !== undefined) throw new SetupError(`The parts are ${parts.join(', ')}, not "${unknown}".`);
  const options = {
    rate: number('rate', 1_000),
    rounds: number('rounds', 100),
    seconds: number('seconds', 40),
    parts: (positionals.length > 0 ? positionals : parts) as readonly Part[],
    tests: values.tests,
    write: values.write,
  };

  const env = readEnv();
  const { mysqld, natsServer } = readToolchain(env);
  if (!mysqld || !natsServer)
    throw new SetupError('This starts servers of its own: unset MYSQL_URL and NATS_URL and run it again.');
  const programs = await findPrograms(env);

  const { onEnd, end } = makeEnds();
  const stop = async (code: number): Promise<never> => {
    await end();
    process.exit(code);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void stop(130));
  const bound = setTimeout(() => {
    process.stderr.write(`Stopped: it took longer than ${boundMs / 60_000} minutes.\n`);
    void stop(1);
  }, boundMs);
  try {
    return (await scaleOut({ ...programs, env, mysqld, natsServer, onEnd, report: terminalReport, options }))
      ? 0
      : 1;
  } finally {
    clearTimeout(bound);
    await end();
  }
};

const findPrograms = async (
  env: NodeJS.ProcessEnv,
): Promise<Pick<ScaleOutContext, 'programs' | 'etcd' | 'wrk'>> => {
  const cache = dirname(env.CAUSEWAY_TOOLCHAIN ?? '');
  const programs = await vitessPrograms(env, cache, clusterPrograms);
  const lacks = (error: Error) => Promise.reject(new MissingProgram(error.message, { cause: error.cause }));
  const { etcd } = await providePrograms(cache, { etcd: 'etcd-server' }).catch(lacks);
  const { wrk } = await providePrograms(cache, { wrk: 'wrk' }).catch(lacks);
  return { programs, etcd, wrk };
};

await main().then(
  (code) => process.exit(code),
  (error: Error) => {
    if (!(error instanceof MissingProgram)) giveUp(error);
    if (typeof error.cause === 'string') process.stderr.write(`${error.cause.trim()}\n`);
    process.stderr.write(`Not run: ${error.message}\n`);
    process.exit(unavailable);
  },
);
