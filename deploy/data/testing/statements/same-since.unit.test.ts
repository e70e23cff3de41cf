import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { isSameSince } from './same-since.ts';

const root = mkdtempSync(join(tmpdir(), 'causeway-same-since-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const path = (name: string): string => join(root, name);
const write = (name: string, text: string): void => {
  mkdirSync(dirname(path(name)), { recursive: true });
  writeFileSync(path(name), text);
};
const git = (...args: string[]): void =>
  void execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...args], {
    cwd: root,
    stdio: 'ignore',
  });
const commit = (): void => {
  git('add', '-A');
  git('commit', '-m', 'change', '--no-gpg-sign');
};
const isSame = (...names: string[]): boolean => isSameSince(root, path('list'), names.map(path));

test('a file is the same until its content differs from that of the commit, and again when it is back', {
  timeout: 60_000,
}, () => {
  expect(isSame('code/a')).toBe(false);
  git('init');
  write('list', '1');
  write('code/a', 'a');
  write('code/b', 'b');
  commit();
  write('code/b', 'changed');
  commit();
  expect(isSame('code/a')).toBe(true);
  expect(isSame('code/b')).toBe(false);
  expect(isSame('code')).toBe(false);
  expect(isSame('code/a', 'code/b')).toBe(false);

  write('code/a', 'changed, and not committed');
  expect(isSame('code/a')).toBe(false);
  write('code/a', 'a');
  expect(isSame('code/a')).toBe(true);

  write('code/new', 'new');
  expect(isSame('code/new')).toBe(false);

  write('list', '2');
  commit();
  expect(isSame('code', 'code/new')).toBe(true);
  write('code/README.md', 'no code');
  write('code/a.unit.test.ts', 'no code that runs in a service');
  commit();
  expect(isSame('code')).toBe(true);

  const shallow = mkdtempSync(join(tmpdir(), 'causeway-same-since-'));
  git('clone', '--depth', '1', `file://${root}`, shallow);
  expect(isSameSince(shallow, join(shallow, 'list'), [join(shallow, 'code/a')])).toBe(false);
  rmSync(shallow, { recursive: true });
});
