import { readFileSync } from 'node:fs';
import { everyOnPath, run } from './run.mjs';

const { debian, ...versions } = JSON.parse(
  readFileSync(new URL('../../versions.json', import.meta.url), 'utf8'),
);

/** Debian as it was when it had these versions. */
export const archive = `https://snapshot.debian.org/archive/debian/${debian}`;

/**
 * The first program of these names on PATH whose version is in `deploy/versions.json`: the same series (9.7), or a newer one
 * where the file says `+`. Any version of a program that the file does not name.
 * @param like the file's name of a program that has several.
 */
export async function findProgram(names, like = names) {
  for (const file of [names].flat().flatMap(everyOnPath)) {
    if (await isTested(file, versions[like])) return file;
  }
  return null;
}

async function isTested(file, version) {
  if (version === undefined) return true;
  // A server of MySQL prints its own path, which may contain numbers.
  const text = await run(file, ['--version'], { timeout: 30_000 }).catch(() => '');
  const found = series(text.replaceAll(file, ''));
  const wanted = series(version);
  if (!version.endsWith('+')) return String(found) === String(wanted);
  return found[0] > wanted[0] || (found[0] === wanted[0] && found[1] >= wanted[1]);
}

const series = (text) => (/(\d+)\.(\d+)/.exec(text) ?? []).slice(1).map(Number);

/** The name of a Debian package, with the series of the program that it is for. */
export function pinned(packageName, program) {
  const version = versions[program] ?? '+';
  return version.endsWith('+') ? packageName : `${packageName}=${series(version).join('.')}.*`;
}
