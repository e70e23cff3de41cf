import { expect, test } from 'vitest';
import { keyOperations } from './operations.ts';
import { conditionOf } from './versions.ts';

const none = { ifMatch: undefined, ifNoneMatch: undefined, otherCondition: undefined };
test('a weak tag is a version that no record has', () => {
  const update = keyOperations.find(({ id }) => id === 'updateLead')!;
  expect(conditionOf(update, { ...none, ifMatch: 'W/"2", "3", 4, x' })).toEqual([-1, 3, 4]);
});

test.each([
  ['createLead', undefined],
  ['batchLeads', undefined],
  ['updateLead', []],
  ['erasePerson', []],
])('a blank condition of %s holds only for a create', (id, condition) => {
  const operation = keyOperations.find((one) => one.id === id)!;
  expect(conditionOf(operation, { ...none, ifMatch: '' })).toEqual(condition);
  expect(
    conditionOf(keyOperations.find((one) => one.id === 'createLead')!, { ...none, ifNoneMatch: '' }),
  ).toBeUndefined();
});
