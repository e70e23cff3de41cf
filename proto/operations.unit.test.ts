import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Definition, operationsOf } from './operation.ts';
import { contract, definitions, keyOperations, memberOperations, operatorOperations } from './operations.ts';

const rules = readFileSync(new URL('./CONTRACT.md', import.meta.url), 'utf8');

/** The rows of the contract's table of scopes and buckets, by the operations that each names; `…` stands for any rest. */
const accessRules = /\| Operations \| Scope \| Bucket \|\n.*\n((?:\|.*\n)+)/
  .exec(rules)![1]!
  .trim()
  .split('\n')
  .flatMap((row) => {
    const [names = '', scope = '', bucket = ''] = row.split('|').slice(1);
    return [...names.matchAll(/`(\w+ \/[^`]+)`/g)].map(([, name]) => ({
      name: name!.replace('…', ''),
      isWhole: !name!.endsWith('…'),
      scope: scope.replaceAll('`', '').trim(),
      bucket: bucket.trim(),
    }));
  })
  .sort((one, other) => other.name.length - one.name.length);

test('each operation has the scope and the bucket that the contract gives it', () => {
  const used = new Set<unknown>();
  for (const { id, method, path, scope, bucket } of keyOperations) {
    const name = `${method} ${path}`;
    const rule = accessRules.find((one) => (one.isWhole ? name === one.name : name.startsWith(one.name)));
    used.add(rule);
    expect(rule?.scope, id).toBe(scope ?? 'any');
    expect(rule?.bucket.split(/, or | where/), id).toContain(bucket ?? 'not counted');
  }
  expect(accessRules.filter((rule) => !used.has(rule))).toEqual([]);
});

test('every operation has one audience, and its name in the contract is its id', () => {
  const ids = [...keyOperations, ...memberOperations, ...operatorOperations].map(({ id }) => id);
  expect(ids.toSorted()).toEqual(Object.keys(contract).toSorted());
  for (const [name, { id }] of Object.entries(contract)) expect(id).toBe(name);
  for (const [name, definition] of Object.entries<Definition>(definitions))
    expect(operationsOf(definition).map(({ id }) => id)).toContain(name);
});

test('only the lookups have the lookup bucket and the lookup error shape', () => {
  for (const { path, bucket, errorShape } of keyOperations) {
    const lookup = path.startsWith('/integrations/lookups/');
    expect(bucket === 'lookup').toBe(lookup);
    expect(errorShape).toBe(lookup ? 'lookup' : 'general');
  }
});

test('batches, and operations that may wait for a receiver or look through a log, have 15 seconds, all others 5', () => {
  const slow = ['testSubscription', 'updateSubscription', 'createSubscriptionReplay'];
  for (const { id, deadlineMs, isBatch } of keyOperations)
    expect(deadlineMs).toBe(isBatch || slow.includes(id) ? 15_000 : 5000);
});

const overHttp = [...keyOperations, ...memberOperations];

test('no two operations share a method and a path', () => {
  const shapes = overHttp.map(
    ({ audience, method, path }) => `${audience} ${method} ${path.replace(/\{\w+\}/g, '{}')}`,
  );
  expect(new Set(shapes).size).toBe(shapes.length);
});
