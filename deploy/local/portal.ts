import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Report } from './report.ts';
import { SetupError } from './setup-error.ts';
import { withLock } from './toolchain/lock.mjs';

/** Concurrent starts take turns. @returns the folder */
export const buildPortal = async (root: string, report: Report): Promise<string> => {
  const folder = join(root, 'admin-ui', 'dist');
  const isBuilt = (): boolean => markOf(folder) === fingerprint(root);
  if (isBuilt()) return folder;
  await report.step('portal', () =>
    withLock(join(root, 'node_modules', '.portal-build.lock'), async () => {
      if (isBuilt()) return;
      const mark = fingerprint(root);
      await run(process.execPath, [join(root, 'admin-ui', 'scripts', 'build.ts')], { cwd: root }).catch(
        (error: { stderr?: string }) => {
          throw new SetupError('The portal’s pages could not be built.', { cause: error.stderr });
        },
      );
      writeFileSync(join(folder, markName), mark);
    }),
  );
  return folder;
};

const run = promisify(execFile);
const markName = '.made-of';

const markOf = (folder: string): string | undefined => {
  const file = join(folder, markName);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
};

const fingerprint = (root: string): string => {
  const hash = createHash('sha256');
  const folders = ['admin-ui/src', 'admin-ui/static', 'admin-ui/scripts', 'proto'];
  const files = [
    ...folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name)),
    ),
    ...['index.html', 'vite.config.ts', '../package-lock.json'].map((file) => join(root, 'admin-ui', file)),
  ];
  for (const file of files.toSorted()) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
};
