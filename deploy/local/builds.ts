import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Report } from './report.ts';
import { SetupError } from './setup-error.ts';
import { withLock } from './toolchain/lock.mjs';

interface Build {
  readonly name: string;
  readonly script: string;
  /** Folders and files that it is made of. */
  readonly sources: readonly string[];
  readonly folder: string;
}

const portal: Build = {
  name: 'portal',
  script: 'admin-ui/scripts/build.ts',
  sources: [
    ...['admin-ui/src', 'admin-ui/static', 'admin-ui/scripts', 'admin-ui/index.html'],
    ...['admin-ui/vite.config.ts', 'proto', 'package-lock.json'],
  ],
  folder: 'admin-ui/dist',
};

const services: Build = {
  name: 'bundle',
  script: 'deploy/bundle/main.ts',
  sources: ['services', 'proto', 'deploy/bundle', 'package-lock.json'],
  folder: 'services/dist',
};

/** The portal's pages, built once for each state of their sources. Concurrent starts take turns. @returns the folder */
export const buildPortal = (root: string, report: Report): Promise<string> => build(root, portal, report);

/** What the services start from, likewise. @returns the folder */
export const buildServices = (root: string, report: Report): Promise<string> => build(root, services, report);

const build = async (root: string, { name, script, sources, folder }: Build, report: Report) => {
  const path = join(root, folder);
  const isBuilt = (): boolean => markOf(path) === fingerprint(root, sources);
  if (isBuilt()) return path;
  await report.step(name, () =>
    withLock(join(root, 'node_modules', `.${name}-build.lock`), async () => {
      if (isBuilt()) return;
      const mark = fingerprint(root, sources);
      await run(process.execPath, [join(root, script)], { cwd: root }).catch((error: { stderr?: string }) => {
        throw new SetupError(`${folder} could not be built.`, { cause: error.stderr });
      });
      writeFileSync(join(path, markName), mark);
    }),
  );
  return path;
};

const run = promisify(execFile);
const markName = '.made-of';

const markOf = (folder: string): string | undefined => {
  const file = join(folder, markName);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
};

const fingerprint = (root: string, sources: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const file of sources.flatMap((source) => filesOf(join(root, source))).toSorted()) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
};

const madeFolder = /\/(dist|node_modules|\.generated-[^/]*)(\/|$)/;

const filesOf = (source: string): string[] =>
  statSync(source).isFile()
    ? [source]
    : readdirSync(source, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !madeFolder.test(`${entry.parentPath}/`))
        .map((entry) => join(entry.parentPath, entry.name));
