import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { imageWorkspaces, packagesOf } from '../dependencies/licences.ts';
import { allocation, nodeFlags } from '../local/supervisor.ts';
import { contextOf, filesOf, readStages, root } from './testing/dockerfile.ts';

const dockerfile = 'deploy/docker/services.Dockerfile';

describe('causeway/services', () => {
  const stages = readStages(dockerfile);
  const context = contextOf(dockerfile);

  test('copies nothing that is not in its context', () => {
    const missing = stages.flatMap(({ copies }) =>
      copies.flatMap(({ sources }) =>
        sources.filter((source) => {
          const folder = source.replace(/\/$/, '');
          return !context.some((file) => file === folder || file.startsWith(`${folder}/`));
        }),
      ),
    );
    expect(missing).toEqual([]);
  });

  test('installs from the manifests of all workspaces, which the lock file requires', () => {
    const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const manifests = globSync(
      (workspaces as string[]).map((workspace) => `${workspace}/package.json`),
      { cwd: root },
    );
    const copied = [...filesOf(stages[0]!, context).keys()];
    expect(copied).toEqual(expect.arrayContaining(['package.json', 'package-lock.json', ...manifests]));
  });

  test('installs the packages of the list of licences', () => {
    const installs = stages.map(({ text }) => text).filter((text) => text.includes('npm ci'));
    const named = installs.flatMap((text) =>
      [...text.matchAll(/--workspace (\S+)/g)].map((match) => match[1]!),
    );
    expect(named).toEqual(expect.arrayContaining(Object.values(imageWorkspaces).flat()));
  });

  test('runs as a numeric user other than root', () => {
    expect(stages.at(-1)?.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  });

  test('has no tests, installed packages, secrets or demo data in its context', () => {
    const unwanted = /\.test\.tsx?$|node_modules|(^|\/)\.env|\.key$|(^|\/)(testing|fixtures|demo)(\/|\.)/;
    expect(context.filter((file) => unwanted.test(file))).toEqual([]);
  });
});

describe('the files of causeway/services', () => {
  const context = contextOf(dockerfile);
  const stages = readStages(dockerfile);
  const files = new Set(stages.flatMap((stage) => [...filesOf(stage, context).keys()]));
  const packages = new Set(packagesOf('causeway/services').map(({ name }) => name));
  const entries = [
    ...globSync('services/*/main.ts', { cwd: root }),
    'services/access/cli/main.ts',
    'deploy/migrate/main.ts',
  ];

  const needsOf = (file: string): string[] =>
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(
        /(?:^|\n)\s*(?:import|export)\s(?!type\s)[^;'"]*?from\s+'([^']+)'|import\(\s*'([^']+)'\s*\)|new URL\('([^']+)', import\.meta\.url\)|(?:require|createRequire\(import\.meta\.url\))\('([^']+)'\)/g,
      ),
    ].map(
      (match) => match[1] ?? match[2] ?? match[4] ?? (/^\./.test(match[3]!) ? match[3]! : `./${match[3]}`),
    );

  const exportsOf = (room: string): Record<string, string> =>
    JSON.parse(readFileSync(join(root, room, 'package.json'), 'utf8')).exports;

  const resolveOwn = (from: string, need: string): string | undefined => {
    if (need.startsWith('.')) return posix.join(dirname(from), need);
    const [, name, door = ''] = /^@causeway\/([\w-]+)(\/.*)?$/.exec(need) ?? [];
    if (!name) return undefined;
    const room = name === 'proto' ? 'proto' : `services/${name}`;
    return posix.join(room, exportsOf(room)[`.${door}`]!);
  };

  test.each(entries)('%s has every file that it needs', (entry) => {
    const seen = new Set<string>();
    const missing: string[] = [];
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      if (!files.has(file)) return void missing.push(file);
      if (!/\.(ts|mjs)$/.test(file)) return;
      for (const need of needsOf(file)) {
        const own = resolveOwn(file, need);
        if (own) visit(own);
        else if (!need.startsWith('node:')) {
          const name = need
            .split('/')
            .slice(0, need.startsWith('@') ? 2 : 1)
            .join('/');
          if (!packages.has(name)) missing.push(`${name} of ${file}`);
        }
      }
    };
    visit(entry);
    expect(missing).toEqual([]);
    expect(seen.size).toBeGreaterThan(3);
  });

  test('include the migrations of every service that has some', () => {
    const migrations = globSync('services/*/migrations/*.sql', { cwd: root });
    expect(migrations.length).toBeGreaterThan(3);
    expect(migrations.filter((file) => !files.has(file))).toEqual([]);
  });
});

test('services run on Node with the same flags and variables everywhere', () => {
  const { entrypoint } = readStages(dockerfile).at(-1)!;
  expect(entrypoint).toEqual(['node', ...nodeFlags]);
  const variables = Object.entries(allocation).map((pair) => pair.join('='));
  const lines = readFileSync(join(root, dockerfile), 'utf8').split('\n');
  expect(lines).toContain(`ENV ${variables.join(' ')}`);
});
