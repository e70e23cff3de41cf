import { expect, test } from 'vitest';
import {
  CommitOutcomeUnknown,
  DatabaseUnavailable,
  duplicateKey,
  isDuplicateRow,
  isPassing,
  isRowRefused,
  isUnavailable,
  isUndone,
} from './errors.ts';

const serverError = (errno: number, sqlState: string, sqlMessage = 'no'): Error =>
  Object.assign(new Error(sqlMessage), { errno, sqlState, sqlMessage });
const duplicate = (sqlMessage: string): Error => serverError(1062, '23000', sqlMessage);
const verdict = (error: unknown) => ({
  isPassing: isPassing(error),
  isUnavailable: isUnavailable(error),
  isRowRefused: isRowRefused(error),
  isUndone: isUndone(error),
});

const away = { isPassing: true, isUnavailable: true, isRowRefused: false };
test.each([
  ['read only', 1290, 'HY000', true],
  ['read only transaction', 1792, '25006', true],
  ['read only mode', 1836, 'HY000', true],
  ['a replication hook', 3100, 'HY000', false],
  ['shutting down', 1053, '08S01', false],
  ['offline mode', 3032, 'HY000', false],
  ['a member of a cluster that is not ready', 1047, '08S01', false],
  ['a killed connection', 1927, '70100', false],
  ['a full table', 1114, 'HY000', true],
  ['a full disk', 1021, 'HY000', true],
  ['an error of the storage engine', 1030, 'HY000', false],
  ['an error during COMMIT', 1180, 'HY000', false],
  ['too many connections', 1040, '08004', false],
  ['the limit of connections of a user', 1203, '42000', false],
  ['the limit of a resource of a user', 1226, '42000', false],
  ['a number that nobody knows', 9001, 'HY000', false],
])('%s concerns everybody and passes', (_, errno, sqlState, undone) => {
  expect(verdict(serverError(errno, sqlState))).toEqual({ ...away, isUndone: undone });
});

test.each([
  [1205, 'HY000'],
  [1213, '40001'],
  [3101, '40000'],
  [3572, 'HY000'],
  [3024, 'HY000'],
])('%i concerns one statement, and passes', (errno, sqlState) => {
  const expected = { isPassing: true, isUnavailable: false, isRowRefused: false, isUndone: true };
  expect(verdict(serverError(errno, sqlState))).toEqual(expected);
});

test.each([
  [1062, '23000'],
  [1048, '23000'],
  [1452, '23000'],
  [1264, '22003'],
  [1406, '22001'],
  [1292, '22007'],
  [1366, 'HY000'],
  [3819, 'HY000'],
])('%i refuses a row', (errno, sqlState) => {
  const refused = { isPassing: false, isUnavailable: false, isRowRefused: true, isUndone: true };
  expect(verdict(serverError(errno, sqlState))).toEqual(refused);
});

test.each([
  [1054, '42S22'],
  [1064, '42000'],
  [1142, '42000'],
  [1146, '42S02'],
  [1419, 'HY000'],
])('%i refuses the statement, and blames no row', (errno, sqlState) => {
  const refused = { isPassing: false, isUnavailable: false, isRowRefused: false, isUndone: true };
  expect(verdict(serverError(errno, sqlState))).toEqual(refused);
});

test('what is no error of the database neither passes nor makes it unavailable', () => {
  const ofNode = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', errno: -111 });
  for (const error of [new TypeError('no'), ofNode, 'text', undefined])
    expect(verdict(error)).toMatchObject({ isPassing: false, isUnavailable: false, isRowRefused: true });
});

test('an unreachable server is unavailable; an unknown outcome only passes', () => {
  expect(verdict(new DatabaseUnavailable('busy', 'x'))).toMatchObject(away);
  expect(verdict(new CommitOutcomeUnknown('x'))).toMatchObject({ ...away, isUnavailable: false });
});

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
