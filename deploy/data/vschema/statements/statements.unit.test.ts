import { expect, test } from 'vitest';
import { normalize, withValues } from './normalize.ts';
import { createVariants } from './variants.ts';

test.each([
  ['select `a` from `t` where `b` in (?, ?, ?)', 'select `a` from `t` where `b` in (?)'],
  ['insert into t (a, b) values (?, ?), (?, ?), (?, ?)', 'insert into t (a, b) values (?, ?)'],
  [
    'SELECT a\n  FROM t WHERE (a, b) IN ((?, ?), (?, ?)) LIMIT 20',
    'SELECT a FROM t WHERE (a, b) IN ((?, ?)) LIMIT ?',
  ],
  [
    '(SELECT a FROM t LIMIT ?) UNION ALL (SELECT a FROM t LIMIT ?) UNION ALL (SELECT a FROM t LIMIT ?)',
    '(SELECT a FROM t LIMIT ?) UNION ALL (SELECT a FROM t LIMIT ?)',
  ],
])('%s: lists of any length are one statement', (sql, expected) => {
  expect(normalize(sql)).toBe(expected);
});

test('a value takes each place but those in a text', () => {
  expect(withValues("select '?' from `t?` where a = ?")).toBe("select '?' from `t?` where a = 1");
});

test('a combination of listed conditions is known, another condition is not', () => {
  const isKnown = createVariants([
    'select a from t where company_id = ? and b = ? order by a limit ?',
    'select a from t where company_id = ? and c between (select 1 and 2) order by a limit ?',
    'update t set a = ?, b = ? where company_id = ?',
    'update t set b = ? where company_id = ?',
  ]);
  expect(
    isKnown(
      'select a from t where company_id = ? and b = ? and c between (select 1 and 2) order by a limit ?',
    ),
  ).toBe(true);
  expect(isKnown('select a from t where company_id = ? order by a limit ?')).toBe(true);
  expect(isKnown('update t set b = ? where company_id = ?')).toBe(true);
  expect(isKnown('select a from t where b = ? order by a limit ?')).toBe(false);
  expect(isKnown('select a from t where company_id = ? and d = ? order by a limit ?')).toBe(false);
  expect(isKnown('select a from t where company_id = ? order by b limit ?')).toBe(false);
  expect(isKnown('update t set c = ?, b = ? where company_id = ?')).toBe(false);
});
