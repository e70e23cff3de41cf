import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SetupError } from '../../deploy/local/setup-error.ts';
import { chooseTests } from './choice.ts';

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
      ...choice.projects.map((name) => `--project=${name}`),
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
