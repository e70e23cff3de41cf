import { describe, expect, test } from 'vitest';
import { Problem } from '../errors.ts';
import { contract } from '../operations.ts';
import { readBatch } from './batch.ts';
import { maxDetails } from './scan-json.ts';

const read = (text: string, query = '') => readBatch(contract.batchLeads, { query, body: Buffer.from(text) });
const refusalOf = (text: string, query = ''): Problem => {
  try {
    read(text, query);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('it was not refused');
};

const item = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com' };
const batchOf = (...items: readonly unknown[]) => JSON.stringify({ mode: 'create', items });

describe('readBatch', () => {
  test('judges the batch and not its items', () => {
    const { body, items } = read(batchOf(item, {}, { email: 7 }));
    expect(body).toMatchObject({ mode: 'create', invalid: 'refuse' });
    expect(items.map(({ fields }) => fields)).toEqual([item, {}, { email: 7 }]);
    expect(items.flatMap(({ problems }) => problems)).toEqual([]);
  });

  test.each([
    ['{"items":[{}]}', 'mode', 'required'],
    [JSON.stringify({ mode: 'merge', items: [{}] }), 'mode', 'out_of_range'],
    [JSON.stringify({ mode: 'create', invalid: 'drop', items: [{}] }), 'invalid', 'out_of_range'],
    [JSON.stringify({ mode: 'create', items: [{}], also: 1 }), 'also', 'unknown_field'],
    [JSON.stringify({ mode: 'create' }), 'items', 'required'],
    [batchOf(), 'items', 'required'],
    [batchOf(...Array(101).fill({})), 'items', 'too_long'],
    [batchOf({}, 5), 'items[1]', 'wrong_kind'],
    [batchOf({}, []), 'items[1]', 'wrong_kind'],
    [batchOf(null), 'items[0]', 'required'],
    ['{"mode":"create","items":[1e999]}', 'items[0]', 'wrong_kind'],
    ['{"mode":"create","mode":"create","items":[{}]}', 'mode', 'must_agree'],
  ])('%s: %s %s', (text, field, code) => {
    expect(refusalOf(text).details).toMatchObject([{ field, code }]);
  });

  test('a query parameter is refused', () => {
    expect(refusalOf(batchOf({}), 'x=1').details).toMatchObject([{ field: 'x', code: 'unknown_field' }]);
  });

  test('what the text of an item breaks belongs to that item', () => {
    const { items } = read(
      `{"mode":"create","items":[{},{"city":"a","city":"b","deep":{"n":1e999}},{"__proto__":{"mode":1}}]}`,
    );
    expect(items.map(({ problems }) => problems)).toEqual([
      [],
      [
        { field: 'city', code: 'must_agree', message: 'city must be given only once' },
        {
          field: 'deep.n',
          code: 'out_of_range',
          message: 'deep.n cannot be stored exactly as a number',
        },
      ],
      [{ field: '__proto__', code: 'invalid_characters', message: '__proto__ is not an allowed key' }],
    ]);
  });

  test('with more problems than are noted, no item passes unjudged', () => {
    const twice = '{"city":"a","city":"b"}';
    const text = `{"mode":"create","items":[${Array(100).fill(twice).join(',')}]}`;
    expect(refusalOf(text).details).toHaveLength(maxDetails);
  });
});
