import { describe, expect, it } from 'vitest';
import { splitStatements } from './migrate.ts';

describe('splitStatements', () => {
  const cases: [string, string, string[]][] = [
    ['splits at semicolons and drops what is empty', 'a; b;;\n ; c', ['a', 'b', 'c']],
    ['keeps semicolons in strings', `a ';' ";" b; c`, [`a ';' ";" b`, 'c']],
    ['knows both ways to escape a quote', `'it''s; \\'x;'; b`, [`'it''s; \\'x;'`, 'b']],
    ['keeps semicolons in quoted names', 'a `x;y`; b', ['a `x;y`', 'b']],
    ['drops comments of all three kinds', '-- a; b\nc /* d; e */ # f;\n; g', ['c', 'g']],
    ['takes two minus signs without a space for what they are', 'select 1--1; b', ['select 1--1', 'b']],
    [
      'keeps version comments and hints',
      '/*!80000 a */; select /*+ b */ 1',
      ['/*!80000 a */', 'select /*+ b */ 1'],
    ],
    ['ends a comment at the end of the file', 'a; -- b', ['a']],
  ];
  for (const [name, script, statements] of cases) {
    it(name, () =>
      expect(splitStatements(script).map((one) => one.replace(/\s+/g, ' '))).toEqual(statements),
    );
  }
});
