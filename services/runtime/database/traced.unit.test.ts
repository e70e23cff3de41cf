import { expect, test } from 'vitest';
import { describeBatch, describeStatement } from './traced.ts';

test.each([
  ['insert into `clients` (`company_id`) values (?)', 'INSERT clients'],
  ['select `a` from `employees` as `e` where `a` in (?)', 'SELECT employees'],
  ['update `subscriptions` set `a` = ?', 'UPDATE subscriptions'],
  ['DELETE /*+ INDEX(`event_outbox` PRIMARY) */ FROM `event_outbox` WHERE (a) IN (?)', 'DELETE event_outbox'],
  ['SELECT MIN(a) FROM (SELECT a FROM event_outbox LIMIT 10) AS o', 'SELECT event_outbox'],
  ['INSERT INTO deliveries\n (company_id) SELECT company_id FROM events', 'INSERT deliveries'],
  ['select 1 as `one`', 'SELECT'],
  ['begin', 'BEGIN'],
  ['commit', 'COMMIT'],
  ["SET time_zone = '+00:00'", 'SET'],
])('%j is %s', (sql, summary) => {
  expect(describeStatement(sql).summary).toBe(summary);
});

test('statements sent together are a batch with the summary of each', () => {
  expect(describeBatch(['begin', 'insert into `clients` (`company_id`) values (?)'])).toEqual({
    operation: 'BATCH',
    table: undefined,
    summary: 'BEGIN; INSERT clients',
  });
  expect(describeBatch(['commit']).operation).toBe('COMMIT');
});
