import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

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

const [, section = ''] = text('deploy/vitess/README.md').split('\n## Statements that name ');
const rows = [...section.matchAll(/^- (.+)$/gm)].map(([, reason]) => reason);

test('the document lists exactly the statements that span companies', () => {
  expect(reasons.length).toBe(calls);
  expect(rows.toSorted()).toEqual([...new Set(reasons)].sort());
});
