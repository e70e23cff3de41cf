import { expect, test } from 'vitest';
import { duplicateKey, isDuplicateRow } from './errors.ts';

const duplicate = (sqlMessage: string): Error =>
  Object.assign(new Error(sqlMessage), { errno: 1062, sqlMessage });

test.each([
  ['MySQL', "Duplicate entry '1-x' for key 'clients.external_id'"],
  [
    'Vitess',
    "target: causeway.-80.primary: vttablet: rpc error: code = AlreadyExists desc = Duplicate entry '1-x' for key " +
      '\'clients.external_id\' (errno 1062) (sqlstate 23000) (CallerID: causeway): Sql: "insert into clients …", ' +
      'BindVars: {}',
  ],
  [
    'a value that looks like a key',
    "Duplicate entry '1-' for key 'clients.email'' for key 'clients.external_id'",
  ],
])('the violated key is in the message of %s', (_, message) => {
  expect(duplicateKey(duplicate(message))).toBe('external_id');
});

test('a row with the same primary key is told from one with the same unique key', () => {
  const vitess =
    "target: x: Duplicate entry '1-a' for key 'idempotency_keys.PRIMARY' (errno 1062) (sqlstate 23000)";
  expect(isDuplicateRow(duplicate(vitess), 'idempotency_keys')).toBe(true);
  expect(
    isDuplicateRow(duplicate("Duplicate entry '1' for key 'idempotency_keys.PRIMARY'"), 'idempotency_keys'),
  ).toBe(true);
  expect(isDuplicateRow(duplicate("Duplicate entry '1' for key 'clients.PRIMARY'"), 'idempotency_keys')).toBe(
    false,
  );
});

test('another error violates no key', () => {
  expect(duplicateKey(Object.assign(new Error('gone'), { errno: 2013 }))).toBeUndefined();
});
