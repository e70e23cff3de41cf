import { createHash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { hasApt, machines, unpackDebian } from './debian.mjs';
import { withLock } from './lock.mjs';
import { SetupError } from './terminal.mjs';
import { findProgram, pinned } from './versions.mjs';

/**
 * From PATH, in the version of `deploy/versions.json`, otherwise from Debian packages in `cache`. @returns `{command, args}` by program
 * @param wanted the packages of each program: `{wrk: 'wrk', php: ['php-cli', 'php-curl']}`.
 */
export async function providePrograms(cache, names) {
  const found = {};
  for (const name of Object.keys(names)) found[name] = await findProgram(name);
  const missing = Object.keys(names).filter((name) => found[name] === null);
  const packages = missing.flatMap((name) => [names[name]].flat().map((part) => pinned(part, name))).sort();
  const id = createHash('sha256').update(`${process.arch} ${packages}`).digest('hex').slice(0, 12);
  const tree = join(cache, `debian-${id}`);
  if (missing.length > 0 && !existsSync(tree)) {
    if (!hasApt()) {
      throw new SetupError(
        `This needs ${missing.join(' and ')}, and this system has no apt to fetch them: install ${packages.join(' and ')}.`,
      );
    }
    mkdirSync(cache, { recursive: true });
    await withLock(join(cache, 'locks', id), async () => {
      if (existsSync(tree)) return;
      await unpackDebian({ packages, target: tree });
    });
  }
  const { triplet, loader } = machines[process.arch];
  const lib = join(tree, 'usr/lib', triplet);
  const folderOf = (name) => (existsSync(join(tree, 'usr/sbin', name)) ? 'usr/sbin' : 'usr/bin');
  const unpacked = (name) => ({
    command: join(lib, loader),
    args: ['--library-path', lib, join(tree, folderOf(name), name)],
  });
  return Object.fromEntries(
    Object.keys(names).map((name) => [
      name,
      found[name] === null ? unpacked(name) : { command: found[name], args: [] },
    ]),
  );
}
