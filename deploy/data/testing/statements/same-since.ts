import { execFileSync } from 'node:child_process';
import { relative } from 'node:path';

/**
 * Whether files and the code in folders are as they were when git last recorded a change of another file. False for what did
 * not exist then, and without git or its history.
 */
export const isSameSince = (root: string, changed: string, paths: readonly string[]): boolean => {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    // Its oldest commit seems to have changed every file.
    if (git('rev-parse', '--is-shallow-repository').trim() === 'true') return false;
    const commit = git('log', '-1', '--format=%H', '--', changed).trim();
    for (const path of paths) git('cat-file', '-e', `${commit}:${relative(root, path)}`);
    git('diff', '--quiet', commit, '--', ...paths, ':!*.md', ':!*.test.ts');
    return true;
  } catch {
    return false;
  }
};
