import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readers, required, variablesOf } from './testing/readers.ts';

const text = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');

/** `| NAME | read by | default | meaning |` */
const rows = [...text.matchAll(/^\| `([A-Z][A-Z0-9_]+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)].map(
  ([, name = '', readBy = '', fallback = '', meaning = '']) => ({
    name,
    readBy: readBy.trim(),
    fallback: fallback.trim(),
    meaning: meaning.trim(),
  }),
);

/** "`8`; access `5`": a service's own default follows the general one. */
const defaultOf = (fallback: string, service: string): string => {
  const [common = '', ...own] = fallback.split('; ');
  const mine = own.find((entry) => entry.startsWith(`${service} `));
  return (mine?.slice(service.length + 1) ?? common).replaceAll('`', '');
};

const everyReader = Object.keys(readers);
const services = everyReader.filter((name) => name !== 'migrate');
const readBy = (variable: string): string[] =>
  everyReader.filter((name) => variablesOf(readers[name]!).has(variable));
const variables = [...new Set(everyReader.flatMap((name) => [...variablesOf(readers[name]!)]))].sort();

test('the reference lists exactly the existing settings', () => {
  expect(rows.map(({ name }) => name).sort()).toEqual(variables);
});

describe.each(rows)('the row of $name', ({ name, readBy: told, fallback, meaning }) => {
  test('names the services that read it', () => {
    const readByAll =
      services.every((service) => readBy(name).includes(service)) && readBy(name).length === services.length;
    expect(told).toBe(readByAll ? 'all' : readBy(name).join(', '));
  });

  test('has its default and a meaning', () => {
    expect(meaning).not.toBe('');
    for (const service of readBy(name)) {
      const read = readers[service]!;
      if (fallback === 'required') {
        const { [name]: _, ...others } = required;
        expect(() => read(others)).toThrow(`${name} is required`);
        continue;
      }
      const without = read(required);
      if (fallback === 'none') expect(without[name]).toBeUndefined();
      else expect(read({ ...required, [name]: defaultOf(fallback, service) })).toEqual(without);
    }
  });
});

test('retries may not take longer than events are kept', () => {
  const read = (schedule: string) =>
    readers.dispatcher!({ ...required, WEBHOOKS_RETRY_SCHEDULE: schedule, RETENTION_DAYS: '3' });
  expect(() => read('72h')).not.toThrow();
  expect(() => read('72h,1s')).toThrow('the waits of WEBHOOKS_RETRY_SCHEDULE are longer than RETENTION_DAYS');
});
