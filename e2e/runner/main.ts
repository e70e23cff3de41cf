import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, constants, getPriority, setPriority, tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { readEnv } from '@causeway/runtime/client';
import { buildPortal } from '../../deploy/local/builds.ts';
import { terminalReport } from '../../deploy/local/report.ts';
import { giveUp, step } from '../../deploy/local/toolchain/terminal.mjs';
import { testChosen, testFiles } from './choice.ts';
import { add, type Counts, countsOfReport, type Failure, failuresOfReport, none } from './counts.ts';

const root = resolve(import.meta.dirname, '../..');
const program = (path: string): string => join(root, 'node_modules', path);

/**
 * `npm test` runs everything. `npm test -- services/crm` runs only the tests of that path or name, without
 * the checks and builds that precede a whole run; nightly ones too, if they are named.
 */
const main = (args: readonly string[]): Promise<number> => {
  if (args.length === 0) return testEverything();
  const [first, ...others] = args;
  return first === '--nightly' && others.length === 0
    ? testNightly()
    : testChosen(
        root,
        args.filter((one) => one !== '--nightly'),
      );
};

/**
 * Runs steps beside each other, the longest first, so that the lanes end together. Two lanes, of three or four workers in
 * all, keep two cores busy: most tests wait more than they work, and with five workers the same work took twice the
 * processor time. A machine with more cores has more lanes. What only computes has a lane of its own, of the lowest
 * priority, and takes the time in which the tests wait.
 */
const testEverything = async (): Promise<number> => {
  await buildPortal(root, terminalReport);
  const lanes = Math.min(4, Math.max(2, Math.floor(availableParallelism() / 2)));
  const browsers = `--maxWorkers=${lanes - 1}`;
  const checks = inLanes(1, [
    () => types('types', 'tsconfig.json'),
    () => types('types of the portal', 'admin-ui/tsconfig.json'),
    () => compute('lint', [program('@biomejs/biome/bin/biome'), 'check', '--colors=off']),
  ]);
  const results = await inLanes(lanes, [
    () => vitest('the portal in a browser', ['portal'], 2400, [browsers]),
    () => vitest('integration tests', ['integration'], 2400),
    () => vitest('API tests', ['api'], 2400),
    () => vitest('API tests that kill processes', ['api-alone'], 2400),
    () => vitest('faults under load, a short mix', ['faults'], 1200),
    () => vitest('unit tests', ['unit'], 600),
  ]);
  return tell([...results, ...(await checks), ...(await inLanes(1, repeats))]);
};

/** One checker needs half the processor time of the usual four, which each check the types that they share. */
const types = (title: string, project: string): Promise<Counts> =>
  compute(title, [program('typescript/bin/tsc'), '--checkers', '1', '-p', project]);

/** Runs the steps in order, with limited parallelism. @returns their results in the same order. */
const inLanes = async <Result>(
  width: number,
  steps: readonly (() => Promise<Result>)[],
): Promise<Result[]> => {
  const results: Result[] = [];
  const rest = steps.entries();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const [at, step] of rest) results[at] = await step();
    }),
  );
  return results;
};

/** What is too slow for every change: long fuzzing, every fault, and the tests in files named `*.nightly.*`. */
const testNightly = async (): Promise<number> => {
  const results = [
    await vitest('nightly tests', Object.keys(testFiles), 3600, ['--mode=nightly', '.nightly.']),
    await check('fuzzing', ['e2e/fuzz/main.ts', '--requests', '100000'], 7200),
    await check('faults under load', ['e2e/faults/main.ts'], 7200),
  ];
  return tell([...results, ...(await inLanes(1, repeats))], true);
};

/**
 * Names every failure once more, so that the end of a long output says what to look at, and adds up the counts.
 * @returns the exit code: 0 if all passed, and in a nightly run, passed at once.
 */
const tell = (results: readonly Counts[], nightly = false): number => {
  process.stdout.write(`\n${[...failed, ...failedOnce].join('')}`);
  const sum = results.reduce(add, none);
  if (failedOnce.length > 0) process.stdout.write(`${failedOnce.length} passed only the second time\n`);
  process.stdout.write(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped\n`);
  return sum.failed === 0 && (!nightly || failedOnce.length === 0) ? 0 : 1;
};

/** A program whose exit code is the verdict counts as one test. */
const check = (title: string, args: readonly string[], boundS: number, priority?: number): Promise<Counts> =>
  judged(
    title,
    args,
    boundS,
    ({ code }) => (code === 0 ? { ...none, passed: 1 } : { ...none, failed: 1 }),
    priority,
  );

/** A check that neither waits nor measures. Tests beside it go first, so it gets time for a busy machine. */
const compute = (title: string, args: readonly string[]): Promise<Counts> =>
  check(title, args, 1200, constants.priority.PRIORITY_LOW);

/** More failed files than this are no accident. */
const maxFilesAgain = 8;

const failed: string[] = [];
const failedOnce: string[] = [];

/** Second runs of files with failures, when nothing else runs. */
const repeats: (() => Promise<Counts>)[] = [];

/** Whether a person waits for the result: then a failure is a failure. */
const isWatched = process.stdout.isTTY && readEnv().CI === undefined;

/**
 * Runs projects. In CI, files with failures run a second time, at the end, one after the other: on a starved machine a
 * test that passes then is printed in full and counted, but fails only the nightly run.
 */
const vitest = async (
  title: string,
  projects: readonly string[],
  boundS: number,
  options: readonly string[] = [],
): Promise<Counts> => {
  const { counts, failures } = await vitestOnce(title, projects, boundS, options);
  const files = [...new Set(failures.map(({ file }) => relative(root, file)))];
  if (counts.failed === 0) return counts;
  if (isWatched || files.length === 0 || files.length > maxFilesAgain) {
    failed.push(...failures.map((failure) => `✗ ${lineOf(failure)}`));
    return counts;
  }
  repeats.push(async () => {
    const oneByOne = ['--no-file-parallelism', ...options.filter((option) => option.startsWith('-'))];
    const again = await vitestOnce(`${title}, again: ${files}`, projects, boundS, [...files, ...oneByOne]);
    failed.push(...again.failures.map((failure) => `✗ ${lineOf(failure)}`));
    const passedNow = failures.filter((one) => !again.failures.some(({ test }) => test === one.test));
    failedOnce.push(...passedNow.map((failure) => `! Failed at first: ${lineOf(failure)}`));
    return { ...none, passed: counts.failed - again.counts.failed, failed: again.counts.failed };
  });
  return { ...counts, failed: 0 };
};

const lineOf = ({ file, test, message }: Failure): string =>
  `${relative(root, file)}: ${test}\n    ${message}\n`;

const vitestOnce = async (
  title: string,
  projects: readonly string[],
  boundS: number,
  options: readonly string[],
): Promise<{ counts: Counts; failures: readonly Failure[] }> => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-test-report-'));
  const file = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const chosen = projects.map((name) => `--project=${name}`);
  const args = [
    program('vitest/vitest.mjs'),
    'run',
    ...chosen,
    ...options,
    '--passWithNoTests',
    ...reporters,
  ];
  let report: unknown;
  try {
    const counts = await judged(title, args, boundS, ({ code }) => {
      report = readReport(file);
      return countsOfReport(report, code === 0);
    });
    return { counts, failures: failuresOfReport(report) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Runs one step and shows its output only if it failed. */
const judged = async (
  title: string,
  args: readonly string[],
  boundS: number,
  judge: (run: Run) => Counts,
  priority: number = getPriority(),
): Promise<Counts> => {
  let counts = none;
  let output = '';
  try {
    await step(title, async () => {
      const run = await runNode(args, boundS, priority);
      counts = judge(run);
      output = `${run.output.trim()}\n✗ ${title}: ${counts.failed} failed (exit code ${run.code})\n`;
      if (counts.failed > 0) throw new Error('failed');
    });
  } catch (error) {
    if (counts.failed === 0) throw error;
    process.stdout.write(output);
  }
  return counts;
};

const readReport = (file: string): unknown => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
};

interface Run {
  readonly code: number;
  readonly output: string;
}

/** Runs a script on this Node, with a time limit. */
const runNode = (args: readonly string[], boundS: number, priority: number): Promise<Run> =>
  new Promise((done, reject) => {
    const child = spawn('setpriv', ['--pdeathsig', 'TERM', process.execPath, ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (child.pid !== undefined) setPriority(child.pid, priority);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    // The kernel ends the servers that it started with it.
    const bound = setTimeout(() => {
      output += `\nStopped: it took longer than ${boundS} s.\n`;
      child.kill('SIGKILL');
    }, boundS * 1000);
    child.once('error', reject);
    child.once('exit', () => {
      // A process left behind that holds the pipes must not block the run.
      setTimeout(() => child.stdout.destroy() && child.stderr.destroy(), 2000).unref();
    });
    child.once('close', (code) => {
      clearTimeout(bound);
      done({ code: code ?? 1, output });
    });
  });

await main(process.argv.slice(2)).then((code) => process.exit(code), giveUp);
