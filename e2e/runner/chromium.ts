import { readEnv } from '@causeway/runtime';
import type { Report } from '../../deploy/local/report.ts';
import { SetupError } from '../../deploy/local/setup-error.ts';
import { onPath, run } from '../../deploy/local/toolchain/run.mjs';
import { findProgram } from '../../deploy/local/toolchain/versions.mjs';

/** The program's names on different systems. */
const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** Its name, and that of its package, on Debian; few other systems have it. */
const headlessShell = 'chromium-headless-shell';

/**
 * Chromium without windows, for tests: they need two thirds of the processor time with it. Where it can be neither found
 * nor installed, a whole Chromium serves.
 * @returns the path of the program.
 */
export const provideHeadlessShell = async (report: Report): Promise<string> => {
  const find = () => findProgram(headlessShell, 'chromium');
  if ((await find()) === null && mayInstall())
    await report.step(`installing ${headlessShell}`, () => install(headlessShell)).catch(() => {});
  return (await find()) ?? provideChromium(report);
};

/**
 * Finds a Chromium as people use it, or installs Debian's package if this user may.
 * @returns the path of the program.
 * @throws SetupError with a way out.
 */
export const provideChromium = async (report: Report): Promise<string> => {
  const find = () => findProgram(names, 'chromium');
  const found = await find();
  if (found) return found;
  if (!mayInstall())
    throw new SetupError(
      'The portal’s tests need a browser: install a current Chromium, and run the command again.',
    );
  await report.step('installing Chromium', () => install('chromium'));
  const installed = await find();
  if (!installed)
    throw new SetupError(
      'Debian’s Chromium was installed, but none of the version in deploy/versions.json is on PATH.',
    );
  return installed;
};

const mayInstall = (): boolean => onPath('apt-get') !== null && process.getuid?.() === 0;

const install = async (name: string): Promise<void> => {
  const env = { ...readEnv(), DEBIAN_FRONTEND: 'noninteractive' };
  try {
    await run('apt-get', ['update', '-qq'], { env });
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', name], { env });
  } catch (error) {
    throw new SetupError(
      'Chromium could not be installed (the output of apt-get is above): install it, and run the command again.',
      { cause: (error as { output?: string }).output ?? (error as Error).message },
    );
  }
};
