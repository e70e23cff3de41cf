import { memberOperations } from '@causeway/proto';
import { expect, test } from 'vitest';
import { changes } from './changes.ts';

test('every operation that is no GET says which queries it changes', () => {
  const isQuery = new Map(memberOperations.map(({ id, method }) => [id, method === 'GET']));
  const changing = [...isQuery.keys()].filter((id) => !isQuery.get(id));
  expect(Object.keys(changes).sort()).toEqual(changing.sort());
  expect(
    Object.values(changes)
      .flat()
      .filter((id) => !isQuery.get(id)),
  ).toEqual([]);
});
