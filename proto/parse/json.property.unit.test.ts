import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson, readJsonObject } from './json.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ unit: fc.constantFrom('\\', '"', '\n', ':', 'a', ' '), maxLength: 6 }),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(true, false, null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
}));

const messageOf = (act: () => unknown): string | undefined => {
  try {
    act();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};

test('a text is parsed as it was written, whichever keys it has', () => {
  fc.assert(
    fc.property(value, fc.constantFrom(0, 1), (given, indent) => {
      const written = JSON.stringify(given, undefined, indent);
      expect(JSON.stringify(parseJson(written))).toBe(JSON.stringify(given));
    }),
    { numRuns: 2_000 },
  );
});

test('a text that is not valid JSON is refused with the place of its fault', () => {
  const piece = fc.constantFrom(
    '',
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '0',
    '-',
    '.',
    'e',
    'x',
    '\n',
    'true',
  );
  let compared = 0;
  fc.assert(
    fc.property(fc.dictionary(text, value), piece, fc.nat(), fc.nat(2), (given, inserted, place, removed) => {
      const whole = JSON.stringify(given, undefined, 1);
      const at = place % (whole.length + 1);
      const broken = whole.slice(0, at) + inserted + whole.slice(at + removed);
      const fault = messageOf(() => JSON.parse(broken));
      fc.pre(fault !== undefined && broken !== '');
      const told = messageOf(() => readJsonObject(Buffer.from(broken)));
      expect(told).toMatch(/: the body must be valid JSON: line \d+, column \d+$/);
      // The parser tells the place of some faults, and within a text or a number not the place of its start.
      const [, line, column] = /^Expected .*\(line (\d+) column (\d+)\)/.exec(fault) ?? [];
      if (line === undefined) return;
      compared++;
      expect(told).toContain(`line ${line}, column ${column}`);
    }),
    { numRuns: 3_000 },
  );
  expect(compared).toBeGreaterThan(500);
});
