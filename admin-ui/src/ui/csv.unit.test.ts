import { expect, test } from 'vitest';
import { csvOf } from './csv.ts';

const csv = (name: string): string =>
  csvOf({ id: () => 7, name: (one: string) => one, none: () => null }, [name]);

test('is a table with quoted cells and a byte order mark', () => {
  expect(csv('a "Łukasz", c')).toBe('\uFEFF"id","name","none"\r\n"7","a ""Łukasz"", c",""\r\n');
});

test.each([
  '=1+2',
  '+1',
  '-1',
  '@SUM(A1)',
  '\t=1',
  ' =HYPERLINK("http://evil.example")',
  '\r=1',
  '\n@A1',
  '＝1+2',
  '\u00A0－1',
])('makes no formula of %j', (name) => expect(csv(name)).toContain(`"'${name.replaceAll('"', '""')}"`));
