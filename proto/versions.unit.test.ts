import { expect, test } from 'vitest';
import { keyOperations } from './operations.ts';
import { conditionOf } from './versions.ts';

const none = { ifMatch: undefined, ifNoneMatch: undefined, otherCondition: undefined };
const sent = [
  ['If-Match', { ...none, ifMatch: '"99"' }],
  ['If-None-Match', { ...none, ifNoneMatch: '*' }],
  ['If-None-Match', { ...none, ifNoneMatch: '"1"' }],
  ['If-Range', { ...none, otherCondition: 'If-Range' }],
] as const;

test.each(
  keyOperations.filter(({ method }) => method !== 'GET').map((operation) => [operation.id, operation]),
)('%s passes over no condition', (_, operation) => {
  for (const [name, headers] of sent) {
    let answer: unknown;
    try {
      answer = conditionOf(operation, headers);
    } catch (error) {
      answer = (error as { details: readonly { field: string }[] }).details[0]!.field;
    }
    expect([[99], 'absent', name]).toContainEqual(answer);
  }
});

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
