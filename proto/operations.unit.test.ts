import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Definition, defineOperation, laneOf, operationsOf } from './operation.ts';
import {
  contract,
  definitions,
  keyOperations,
  memberOperations,
  operationById,
  operatorOperations,
} from './operations.ts';
import * as operator from './operator.ts';

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

test('no two modules define one id, and none is left out', async () => {
  const modules: object[] = await Promise.all(
    ['./operations/', './portal/']
      .flatMap((folder) => readdirSync(new URL(folder, import.meta.url)).map((file) => folder + file))
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map((file) => import(file)),
  );
  const defined = [...modules, operator].flatMap((module) =>
    Object.values(module).flatMap((value) =>
      (value?.audience && value.id) || value?.callers ? operationsOf(value).map(({ id }) => id) : [],
    ),
  );
  expect(defined.toSorted()).toEqual([...operationById.keys()].toSorted());
});

test('one definition gives each caller an operation of the shared fields and its own', () => {
  const answers = { 204: { schema: null } };
  const { callers } = defineOperation({
    id: 'closeAccount',
    service: 'access',
    deadlineMs: 5000,
    query: null,
    body: null,
    callers: {
      member: { id: 'closeOwnAccount', method: 'POST', path: '/close', role: 'owner', errors: [], answers },
      operator: { deadlineMs: 20_000, answers },
    },
  });
  const shared = { service: 'access', query: null, body: null, answers };
  expect(callers.operator).toEqual({
    ...shared,
    id: 'closeAccount',
    audience: 'operator',
    deadlineMs: 20_000,
  });
  expect(callers.member).toEqual({
    ...shared,
    id: 'closeOwnAccount',
    audience: 'member',
    deadlineMs: 5000,
    method: 'POST',
    path: '/close',
    role: 'owner',
    errors: [],
  });
});

test('an operation uses the lane of its service, unless it is for operators', () => {
  const { createLead, listAudit, listEvents, createKey, reencryptSecrets } = contract;
  const lanes = [createLead, listAudit, listEvents, createKey, reencryptSecrets].map(laneOf);
  expect(lanes).toEqual(['crm', 'access', 'webhooks', 'operator', 'operator-webhooks']);
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

describe.each(memberOperations.map((operation) => [operation.id, operation] as const))(
  '%s',
  (_, operation) => {
    test('has a body in each answer but 204, and reads without a body', () => {
      for (const [status, { schema }] of Object.entries(operation.answers))
        expect(schema === null).toBe(status === '204');
      if (operation.method === 'GET') expect(operation.body).toBeNull();
    });
  },
);
