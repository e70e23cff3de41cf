import { expect, test } from 'vitest';
import { parseIdempotencyKey } from './render-problem.ts';

test.each([
  ['8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
  ['"8e03978e-40d5-43dd-bc93-6894a57f9324"', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
  ['a', 'a'],
  ["!#$%&'()*+-./:;<=>?@[]^_`{|}~", "!#$%&'()*+-./:;<=>?@[]^_`{|}~"],
  ['x'.repeat(255), 'x'.repeat(255)],
  [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
])('%s is the key %s', (header, key) => expect(parseIdempotencyKey(header)).toBe(key));

test.each([
  ['empty', ''],
  ['empty in quotes', '""'],
  ['a lone quote', '"'],
  ['an open quote', '"a'],
  ['a quote inside', 'a"b'],
  ['a space', 'a b'],
  ['two values', 'a,b'],
  ['a backslash', 'a\\b'],
  ['a tab', 'a\tb'],
  ['not ASCII', 'schlüssel'],
  ['a control character', 'a\u007f'],
  ['256 characters', 'x'.repeat(256)],
])('%s is refused', (_, header) => expect(parseIdempotencyKey(header)).toBeUndefined());
