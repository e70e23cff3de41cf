import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createMetrics } from '@causeway/runtime';

const root = resolve(import.meta.dirname, '../../..');

/** What Prometheus adds to every series. */
const added = ['service', 'instance'];

/** Every series that the processes can have, by the name that Prometheus knows it by, with its labels. */
export const knownSeries = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
  const known = new Map<string, readonly string[]>([['up', added]]);
  for (const file of globSync('services/**/*.ts', { cwd: root })) {
    if (/\.test\.ts$|\/testing\//.test(file)) continue;
    // `counter('name', 'What it counts', ['label']`, also through a helper of that file.
    for (const [call, kind, name = ''] of readFileSync(join(root, file), 'utf8').matchAll(
      /\b(counter|gauge|timing|count)\(\s*'([a-z_]+)',\s*['"][A-Z][\s\S]*?(?:\);|\)\s*\.cell|\)\.cell)/g,
    )) {
      const list = /\[((?:\s*'[a-z]+',?)+)\s*\]|\{\s*([a-z]+),?\s*\},?\s*\);$/.exec(call);
      const labels = (list?.[1] ?? list?.[2] ?? '').match(/[a-z]+/g) ?? [];
      if (kind !== 'timing') known.set(name, [...added, ...labels]);
      else
        for (const ending of ['_bucket', '_count', '_sum']) known.set(`${name}${ending}`, [...added, 'le']);
    }
  }
  const { registry } = createMetrics({ defaults: true });
  for (const { name } of await registry.getMetricsAsJSON()) known.set(name, added);
  return known;
};
