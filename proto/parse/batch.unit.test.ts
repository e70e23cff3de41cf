import { describe, expect, test } from 'vitest';
import { Problem } from '../errors.ts';
import { contract } from '../operations.ts';
import { type BatchItem, readBatch, readItem } from './batch.ts';
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

describe('readItem', () => {
  const itemOf = (fields: object, problems: BatchItem['problems'] = []): BatchItem => ({
    fields: fields as BatchItem['fields'],
    problems,
  });
  const lead = (fields: object, drops: boolean) => readItem(contract.createLead, itemOf(fields), [], drops);

  test('reads it as the operation for one record', () => {
    expect(lead({ ...item, first_name: ' Ann ', city: '', phone: null }, false)).toMatchObject({
      value: item,
      problems: [],
      dropped: [],
    });
    expect(lead({ ...item, email: 'none', nickname: 'A' }, false)).toMatchObject({
      problems: [
        { field: 'nickname', code: 'unknown_field' },
        { field: 'email', code: 'email_invalid' },
      ],
      dropped: [],
    });
  });

  test('leaves out optional fields that are not valid, unknown ones too, and names them', () => {
    const read = lead(
      { ...item, city: 'c'.repeat(101), phone: 'none', nickname: 'A', state: 'Styria' },
      true,
    );
    expect(read.value).toEqual({ ...item, state: 'Styria' });
    expect(read.problems).toEqual([]);
    expect(read.dropped.map(({ field, code }) => [field, code])).toEqual([
      ['nickname', 'unknown_field'],
      ['phone', 'phone_invalid'],
      ['city', 'too_long'],
    ]);
  });

  test.each([
    ['a required field', { ...item, email: 'none', city: 7 }],
    ['an external_id, which says what the record is', { ...item, external_id: 'x'.repeat(101) }],
    [
      'more than 20 problems',
      { ...item, ...Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`k${at}`, 1])) },
    ],
  ])('refuses the item for %s', (_, fields) => {
    const read = lead(fields, true);
    expect(read.value).toBeUndefined();
    expect(read.problems.length).toBeGreaterThan(0);
    expect(read.problems.length).toBeLessThanOrEqual(20);
    expect(read.dropped).toEqual([]);
  });

  test('an update of nothing that is valid is refused', () => {
    const read = readItem(contract.updateLead, itemOf({ client_id: 5, city: 7 }), ['5'], true);
    expect([read.value, read.problems.map(({ field }) => field)]).toEqual([undefined, ['city']]);
    const kept = readItem(contract.updateLead, itemOf({ client_id: 5, city: 7, zip: '1' }), ['5'], true);
    expect([kept.value, kept.dropped.map(({ field }) => field)]).toEqual([{ zip: '1' }, ['city']]);
  });
});
