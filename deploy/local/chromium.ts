import { readEnv } from '@causeway/runtime';
import type { Report } from './report.ts';
import { SetupError } from './setup-error.ts';
import { onPath, run } from './toolchain/run.mjs';

/** The program's names on different systems. */
const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * Finds a Chromium for the portal's tests, or installs Debian's package if this user may.
 * @returns the path of the program.
 * @throws SetupError with a way out.
 */
export const provideChromium = async (report: Report): Promise<string> => {
  const found = find();
  if (found) return found;
  if (onPath('apt-get') === null || process.getuid?.() !== 0)
    throw new SetupError('The portal’s tests need a browser: install Chromium, and run the command again.');
  await report.step('installing Chromium', install);
  const installed = find();
  if (!installed) throw new SetupError('Chromium was installed, but is not on PATH: add its folder to PATH.');
  return installed;
};

const find = (): string | null => names.map(onPath).find((path) => path !== null) ?? null;

const install = async (): Promise<void> => {
  const env = { ...readEnv(), DEBIAN_FRONTEND: 'noninteractive' };
  try {
    await run('apt-get', ['update', '-qq'], { env });
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], { env });
  } catch (error) {
    throw new SetupError(
      'Chromium could not be installed (the output of apt-get is above): install it, and run the command again.',
      { cause: (error as { output?: string }).output ?? (error as Error).message },
    );
  }
};
