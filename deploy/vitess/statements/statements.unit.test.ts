import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { normalize, withValues } from './explain.ts';
import { createVariants, readList, renderList, withoutVariants } from './list.ts';

const root = resolve(import.meta.dirname, '../../..');

describe('the list', () => {
  const list = readList();
  const statements = list.map(({ statement }) => statement);

  test('is written as `npm run scale-out -- statements --write` writes it', () => {
    expect(list.length).toBeGreaterThan(300);
    expect(readFileSync(join(import.meta.dirname, 'statements.txt'), 'utf8')).toBe(renderList(list));
    expect(statements.map(normalize)).toEqual(statements);
    expect(withoutVariants(statements).toSorted()).toEqual(statements.toSorted());
  });

  test('has no statement that Vitess refuses', () => {
    expect(list.filter(({ verdict }) => verdict === '' || verdict.startsWith('REFUSED'))).toEqual([]);
  });

  test('gives a reason for each statement that goes to every shard, and none of them answers a request', () => {
    const kinds = new Map(
      [
        ...readFileSync(join(root, 'deploy/vitess/README.md'), 'utf8').matchAll(
          /^\| ([^|]+) \| (batch|poller|lookup|scatter|one) \| [^|]+ \|$/gm,
        ),
      ].map(([, reason = '', kind = '']) => [reason, kind]),
    );
    const scattered = list
      .filter(({ verdict }) => verdict.includes('Scatter'))
      .map(({ statement, reason }) => ({ statement, kind: kinds.get(reason) ?? `no reason: ${reason}` }));
    expect(scattered.length).toBeGreaterThan(10);
    expect(scattered.filter(({ kind }) => kind !== 'scatter' && kind !== 'poller')).toEqual([]);
  });
});

test('no deployment makes services note their statements', () => {
  const files = globSync(['deploy/k8s/**/*.{yaml,yml,env}', 'deploy/**/{compose.yaml,Dockerfile}'], {
    cwd: root,
  });
  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((file) => readFileSync(join(root, file), 'utf8').includes('STATEMENT_NOTES'))).toEqual(
    [],
  );
});

test.each([
  ['select `a` from `t` where `b` in (?, ?, ?)', 'select `a` from `t` where `b` in (?)'],
  ['insert into t (a, b) values (?, ?), (?, ?), (?, ?)', 'insert into t (a, b) values (?, ?)'],
  ['update t set a = ? , b = ?', 'update t set a = ?, b = ?'],
  ['insert into t (a, b) values (default, ?), (?, ?)', 'insert into t (a, b) values (?, ?)'],
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

test('a value takes each place but those in a text, another in each part of a union', () => {
  expect(withValues("select '?' from `t?` where a = ?")).toBe("select '?' from `t?` where a = 1");
  expect(withValues('(select ?) UNION ALL (select ?)')).toBe('(select 1) UNION ALL (select 2)');
});

const listed = [
  'select /*+ INDEX(t x) */ a from t where company_id = ? order by b desc limit ?',
  'select a from t where company_id = ? order by a limit ?',
  'select a from t where company_id = ? and b = ? order by a limit ?',
  'select a from t where company_id = ? and c between (select 1 and 2) order by a limit ?',
  'select b from t where company_id = ? and (a < ? AND b < ?)',
  'select b from t where company_id = ? and TRUE and (a = ? OR b = ?)',
  'update t set a = ?, b = ? where company_id = ?',
  'update t set b = ? where company_id = ? and a = ?',
];

test.each([
  'select a from t where company_id = ? and b = ? and c between (select 1 and 2) order by a limit ?',
  'select b from t where company_id = ? and (b < ? AND a < ?) and (a = ? OR b = ?)',
  'select a from t where company_id = ? and b = ? order by b desc limit ?',
  'select /*+ INDEX(t x) */ a from t where company_id = ? order by a limit ?',
  'update t set b = ? where company_id = ?',
])('%s: a combination of listed conditions, assignments, orders and hints is known', (statement) => {
  expect(createVariants(listed)(statement)).toBe(true);
});

test('the list keeps the shorter ones, which say what the others are combinations of', () => {
  const [none, b, c] = listed.slice(1, 4) as [string, string, string];
  const both =
    'select a from t where company_id = ? and b = ? and c between (select 1 and 2) order by a limit ?';
  expect(withoutVariants([both, c, b, none])).toEqual([none, b, c]);
});

test.each([
  'select a from t where b = ? order by a limit ?',
  'select a from t where company_id = ? and d = ? order by a limit ?',
  'select a from t where company_id = ? order by b limit ?',
  'select /*+ INDEX(t y) */ a from t where company_id = ? order by a limit ?',
  'select b from t where company_id = ?',
  'update t set c = ?, b = ? where company_id = ?',
  'update t set b = ? where a = ?',
])('%s: another condition, order or assignment, or one without a listed condition, is not', (statement) => {
  expect(createVariants(listed)(statement)).toBe(false);
});
