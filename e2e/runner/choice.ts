import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, matchesGlob } from 'node:path';
import { SetupError } from '../../deploy/local/setup-error.ts';

/** The test files of each vitest project; their names say what they need. */
export const testFiles = {
  unit: ['{proto,services,deploy,admin-ui,e2e}/**/*.unit.test.ts'],
  integration: ['{proto,services,deploy,admin-ui}/**/*.integration.test.ts'],
  api: ['e2e/api/*.test.ts', 'e2e/fuzz/!(http).fuzz.test.ts'],
  'api-alone': ['e2e/api/alone/*.test.ts', 'e2e/fuzz/http.fuzz.test.ts'],
  portal: ['e2e/portal/**/*.test.ts'],
  faults: ['e2e/faults/**/*.test.ts'],
} as const;

/** Tests with these names are too slow for every run: only `npm run test:nightly` or naming them runs them. */
export const nightlyFiles = '**/*.nightly.*';

interface Choice {
  readonly files: readonly string[];
  /** Options of vitest that narrow the choice further, or change how it runs. */
  readonly options: readonly string[];
}

/**
 * Chooses the tests that the arguments name. A word is a path, part of a path, or, if no path contains it, part of a
 * test's name. Arguments from the first dash on go to vitest.
 * @returns undefined if nothing matches.
 */
const chooseTests = (root: string, args: readonly string[]): Choice | undefined => {
  const dash = args.findIndex((arg) => arg.startsWith('-'));
  const words = dash === -1 ? args : args.slice(0, dash);
  const options = dash === -1 ? [] : args.slice(dash);
  const all = filesOf(root);
  const isIn = (word: string) => (file: string) => file.includes(pathOf(root, word));
  const arePaths = words.every((word) => all.some(isIn(word)));
  const byPath = all.filter((file) => arePaths && words.some((word) => isIn(word)(file)));
  if (byPath.length > 0 || words.length === 0) return choiceOf(words.length === 0 ? all : byPath, options);
  const name = words.join(' ');
  const byName = all.filter((file) => readFileSync(join(root, file), 'utf8').includes(name));
  if (byName.length === 0) return undefined;
  return choiceOf(byName, ['--testNamePattern', escaped(name), ...options]);
};

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

const filesOf = (root: string): string[] =>
  Object.values(testFiles).flatMap((patterns) =>
    globSync([...patterns], { cwd: root, exclude: (name) => name === 'node_modules' }),
  );

/** Shells complete paths as `./services/…` or in full. */
const pathOf = (root: string, word: string): string => word.replace(`${root}/`, '').replace(/^\.\//, '');

const choiceOf = (files: readonly string[], options: readonly string[]): Choice => ({
  files,
  options: files.some((file) => matchesGlob(file, nightlyFiles))
    ? ['--mode', 'nightly', ...options]
    : options,
});

/**
 * Runs the named tests with vitest's own output.
 * @returns the exit code.
 * @throws SetupError if nothing matches: a run without tests must not look green.
 */
export const testChosen = async (root: string, args: readonly string[]): Promise<number> => {
  const choice = chooseTests(root, args);
  if (!choice) throw nothingMatches(args);
  const folder = mkdtempSync(join(tmpdir(), 'causeway-test-report-'));
  const report = join(folder, 'report.json');
  try {
    const vitest = [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      ...choice.files,
      ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
      ...choice.options,
    ];
    const child = spawn('setpriv', ['--pdeathsig', 'TERM', process.execPath, ...vitest], {
      cwd: root,
      stdio: 'inherit',
    });
    const [code] = await once(child, 'exit');
    if (code === 0 && testsRun(report) === 0) throw nothingMatches(args);
    return code ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const testsRun = (report: string): number => {
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, 'utf8'));
  return numPassedTests + numFailedTests;
};

const nothingMatches = (args: readonly string[]): SetupError =>
  new SetupError(
    `No test matches "${args.join(' ')}": give a part of a test file's path, or a part of a test's name.`,
  );
