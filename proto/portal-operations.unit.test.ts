import { describe, expect, test } from 'vitest';
import { operationById } from './operations.ts';
import { operatorContract } from './operator.ts';
import { portalContract, portalOperations } from './portal-operations.ts';

test('every name in the contract of the portal is the id of its operation, and no other table has it', () => {
  for (const [name, { id }] of Object.entries(portalContract)) {
    expect(id).toBe(name);
    expect(operationById.has(id)).toBe(false);
    expect(id in operatorContract).toBe(false);
  }
});

test('no two operations share a method and a path', () => {
  const shapes = portalOperations.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`);
  expect(new Set(shapes).size).toBe(shapes.length);
});

describe.each(portalOperations.map((operation) => [operation.id, operation] as const))(
  '%s',
  (_, operation) => {
    test('shows an example that fits, for each answer with a body', () => {
      for (const [status, { schema, example }] of Object.entries(operation.answers)) {
        if (schema === null) expect(status).toBe('204');
        else expect(schema.safeParse(example).error?.issues ?? []).toEqual([]);
      }
    });

    test('names its path parameters in their order, and reads without a body', () => {
      expect(Object.keys(operation.params)).toEqual(
        [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]),
      );
      if (operation.method === 'GET') expect(operation.body).toBeNull();
    });
  },
);
