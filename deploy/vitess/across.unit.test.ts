import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '../..');
const text = (file: string): string => readFileSync(join(root, file), 'utf8');

const sources = globSync('services/*/**/*.ts', { cwd: root })
  .filter(
    (file) =>
      !/\/node_modules\/|^services\/runtime\/(?!deliveries\/|retention\/)|\/testing\/|\.test\.ts$/.test(file),
  )
  .map(text);

const call = /acrossTenants\(\s*[^,()]+,\s*(?:'([^']+)'|(\w+)),?\s*\)/g;
const reasons = sources.flatMap((source) =>
  [...source.matchAll(call)].map(
    ([, reason, name]) => reason ?? new RegExp(`const ${name} = '([^']+)'`).exec(source)?.[1],
  ),
);
const calls = sources.reduce((sum, source) => sum + source.split('acrossTenants(').length - 1, 0);

const rows = Object.values(
  parse(text('deploy/vitess/across.yaml')) as Readonly<Record<string, readonly string[]>>,
).flat();

test('the lists name exactly the statements that span companies', () => {
  expect(reasons.length).toBe(calls);
  expect(rows.toSorted()).toEqual([...new Set(reasons)].sort());
});
