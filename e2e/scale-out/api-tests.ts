import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { spawnGuarded } from '../../deploy/local/guarded.ts';
import type { Plan } from '../../deploy/vitess/testing/cluster.ts';
import { nightlyFiles, testFiles } from '../runner/choice.ts';
import { type Counts, countsOfReport, type Failure, failuresOfReport } from '../runner/counts.ts';
import { type Outcome, root, type Stage } from './stage.ts';

const withinMs = 45 * 60_000;
/** More failed files than this are no accident. */
const maxFilesAgain = 8;

/** Files that do not fit two shards; README.md says why. */
const leftOut = ['e2e/api/traces.test.ts'];

/**
 * Runs the API tests through vtgate, and looks at the plans of their statements. A test that fails runs once more alone,
 * as in `npm test`.
 */
export const runApiTests = async (stage: Stage): Promise<Outcome> => {
  const chosen = globSync([...testFiles.api], { cwd: root, exclude: [nightlyFiles] })
    .filter((file) => !leftOut.includes(file))
    .filter(
      (file) => stage.options.tests.length === 0 || stage.options.tests.some((part) => file.includes(part)),
    );
  const first = await stage.report.step('API tests', () => vitest(stage, 'api-tests', chosen));
  const files = [...new Set(first.failures.map(({ file }) => relative(root, file)))];
  const isChance = files.length > 0 && files.length <= maxFilesAgain;
  const last = isChance
    ? await stage.report.step(`API tests, again: ${files}`, () =>
        vitest(stage, 'api-tests-again', [...files, '--no-file-parallelism']),
      )
    : first;
  const passed = isChance
    ? first.counts.passed + first.counts.failed - last.counts.failed
    : first.counts.passed;
  const plans = await stage.vitess.plans();
  const astray = plans.filter(isAstray);
  return {
    tables: [
      {
        title: 'API tests through vtgate',
        columns: ['', 'tests'],
        rows: [
          ['passed', `${passed}`],
          ['of these, on the second attempt', `${first.counts.failed - last.counts.failed}`],
          ['failed', `${last.counts.failed}`],
          ['skipped', `${first.counts.skipped}`],
          ['left out', leftOut.join(', ')],
          ['statements', `${plans.length}`],
          ['of these, to every shard', `${plans.filter(isScattered).length}`],
        ],
      },
    ],
    complaints: [
      ...last.failures.map(({ file, test, message }) => `${relative(root, file)}: ${test}\n    ${message}`),
      ...(last.counts.failed > 0 && last.failures.length === 0
        ? [`the tests did not run: ${last.logFile}`]
        : []),
      ...(stage.options.tests.length === 0 && plans.length < fewestPlans
        ? [`vtgate knows only ${plans.length} statements`]
        : []),
      ...astray.map(({ Original }) => `it goes to every shard: ${Original}`),
    ],
  };
};

/** The tests cause some 300; fewer mean that its answer was not understood. */
const fewestPlans = 150;

const isScattered = ({ Instructions }: Plan): boolean =>
  JSON.stringify(Instructions ?? null).includes('"Scatter"');

/** Only a read that names no company may go to every shard: a poller, or an operator's list. */
const isAstray = (plan: Plan): boolean =>
  isScattered(plan) &&
  (plan.QueryType !== 'SELECT' || /(?<!not )\bcompany_id`? (=|in) :/i.test(plan.Original));

interface Result {
  readonly counts: Counts;
  readonly failures: readonly Failure[];
  readonly logFile: string;
}

const vitest = async (
  { home, onVitess, onEnd }: Stage,
  name: string,
  args: readonly string[],
): Promise<Result> => {
  const file = join(home, `${name}.json`);
  const logFile = join(home, 'logs', `${name}.log`);
  const run = await spawnGuarded({
    command: process.execPath,
    args: [
      ...[join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', root, '--project=api', ...args],
      ...['--reporter=default', '--reporter=json', `--outputFile.json=${file}`],
    ],
    env: onVitess,
    logFile,
  });
  onEnd(() => run.stop(60_000));
  const timer = setTimeout(() => void run.stop(60_000), withinMs);
  const { code } = await run.exited;
  clearTimeout(timer);
  const report = readReport(file);
  return { counts: countsOfReport(report, code === 0), failures: failuresOfReport(report), logFile };
};

const readReport = (file: string): unknown => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
};
