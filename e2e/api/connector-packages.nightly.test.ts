import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cleanUp } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';

const run = promisify(execFile);

const pack = async (name: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-connector-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  const cwd = join(import.meta.dirname, '../../proto/connectors', name);
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd });
  const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf('[')));
  await run('tar', ['-xzf', join(folder, filename), '-C', folder, '--strip-components=1']);
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  return {
    names: (files as readonly { path: string }[]).map(({ path }) => path).sort(),
    manifest: JSON.parse(read('package.json')),
    read,
  };
};

const importsOf = (text: string): readonly string[] =>
  [...text.matchAll(/\brequire\("([^"]+)"\)|\bfrom ["']([^"']+)["']/g)].map(([, a, b]) => a ?? b!);

test('the package for n8n holds its nodes, and needs n8n alone', async () => {
  const { names, manifest, read } = await pack('n8n');
  const { nodes, credentials } = manifest.n8n;
  expect(names).toEqual(
    [
      'README.md',
      'package.json',
      'dist/causeway.svg',
      'dist/package.json',
      'dist/shared.js',
      ...nodes,
      ...credentials,
    ].sort(),
  );
  expect(manifest.dependencies).toBeUndefined();
  const scripts = names.filter((name) => name.endsWith('.js'));
  const foreign = scripts.flatMap((name) => importsOf(read(name))).filter((name) => !name.startsWith('.'));
  expect(new Set(foreign)).toEqual(new Set(['n8n-workflow']));
});

test('the package for Zapier is one file, and needs the platform in an exact version', async () => {
  const { names, manifest, read } = await pack('zapier');
  expect(names).toEqual(['README.md', 'dist/index.js', 'package.json']);
  expect(new Set(importsOf(read('dist/index.js')))).toEqual(new Set(['zapier-platform-core']));
  expect(Object.entries(manifest.dependencies)).toEqual([
    ['zapier-platform-core', expect.stringMatching(/^\d+\.\d+\.\d+$/)],
  ]);
  expect(read('dist/index.js')).toContain(`version: "${manifest.version}"`);
});
