import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createMetrics } from '@causeway/runtime';

const root = resolve(import.meta.dirname, '../../..');

/** Every series that the processes can have, by the names that Prometheus knows them by. */
export const seriesNames = async (): Promise<ReadonlySet<string>> => {
  const names = new Set(['up']);
  for (const file of globSync('services/**/*.ts', { cwd: root })) {
    if (/\.test\.ts$|\/testing\//.test(file)) continue;
    // `counter('name', 'What it counts'`, also through a helper of that file.
    for (const [, kind, name = ''] of readFileSync(join(root, file), 'utf8').matchAll(
      /\b(counter|gauge|timing|count)\(\s*'([a-z_]+)',\s*['"][A-Z]/g,
    )) {
      const endings = kind === 'timing' ? ['_bucket', '_count', '_sum'] : [''];
      for (const ending of endings) names.add(`${name}${ending}`);
    }
  }
  const { registry } = createMetrics({ defaults: true });
  for (const { name } of await registry.getMetricsAsJSON()) names.add(name);
  return names;
};

/** The series that an expression of PromQL asks for. */
export const seriesOf = (expression: string): readonly string[] => {
  const bare = expression
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, ' ')
    .replace(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ');
  return [...bare.matchAll(/\b[a-z_][a-z0-9_]*\b(?!\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => !keywords.has(name));
};

const keywords = new Set(['and', 'or', 'unless', 'bool', 'offset']);
