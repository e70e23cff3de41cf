import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { detailCodes, Problem } from './errors.ts';
import { readJsonObject } from './parse/json.ts';
import { readQueryString } from './parse/read.ts';
import { parseId } from './parse.ts';
import { unicode } from './testing/unicode.ts';

/** The result of a parser: a value, or the 400 (404 for IDs) that it threw. Anything else fails. */
const outcomeOf = <Value>(parse: () => Value): { value: Value } | { problem: Problem } => {
  try {
    return { value: parse() };
  } catch (error) {
    if (error instanceof Problem) return { problem: error };
    throw error;
  }
};

const isTold = ({ code, publicMessage, details = [] }: Problem): boolean =>
  code === 'invalid_request' &&
  publicMessage !== '' &&
  details[0]?.message === publicMessage &&
  details.every(
    ({ code: rule, message }) =>
      Object.hasOwn(detailCodes, rule) && !/\{field\}|undefined|Zod|\[object/.test(message),
  );

/** Every UTF-16 unit, including unpaired surrogates. */
const anyText = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), maxLength: 40 });
const wellFormed = fc
  .string({ unit: unicode, maxLength: 20 })
  .filter((text) => !text.includes('\0') && text.isWellFormed());

const queryOf = (pairs: [string, string][]): string => new URLSearchParams(pairs).toString();

describe('a query string', () => {
  test('round-trips form data', () => {
    const pairs = fc.uniqueArray(fc.tuple(wellFormed, wellFormed), {
      selector: ([name]) => name,
      maxLength: 5,
    });
    fc.assert(
      fc.property(pairs, (given) => {
        const { values, problems } = readQueryString(queryOf(given));
        expect(problems).toEqual([]);
        expect(Object.entries(values).toSorted()).toEqual(given.toSorted());
      }),
      { numRuns: 300 },
    );
  });

  test('is parsed or refused, and the result has no NUL and no unpaired surrogate', () => {
    const part = fc.oneof(
      anyText,
      fc.constantFrom('%00', '%', '%ed%a0%80', '%c0%80', '=', '&', '+', '__proto__'),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const outcome = outcomeOf(() => readQueryString(parts.join('')));
        if ('problem' in outcome) return isTold(outcome.problem);
        return Object.entries(outcome.value.values)
          .flat(2)
          .every((text) => text.isWellFormed() && !text.includes('\0'));
      }),
      { numRuns: 500 },
    );
  });

  test('names exactly the parameters that were given twice', () => {
    const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'toString');
    fc.assert(
      fc.property(fc.array(name, { maxLength: 8 }), (names) => {
        const { problems } = readQueryString(names.map((one) => `${one}=1`).join('&'));
        const twice = names.filter((one, at) => names.indexOf(one) !== at);
        expect(new Set(problems.map(({ field }) => field))).toEqual(new Set(twice));
      }),
      { numRuns: 200 },
    );
  });
});

describe('a JSON body', () => {
  test('is parsed or refused, for any bytes', () => {
    const json = fc.json().map((text) => Buffer.from(text));
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 60 }), json);
    fc.assert(
      fc.property(bytes, (body) => {
        const outcome = outcomeOf(() => readJsonObject(body));
        return 'problem' in outcome
          ? isTold(outcome.problem)
          : typeof outcome.value.value === 'object' && !Array.isArray(outcome.value.value);
      }),
      { numRuns: 500 },
    );
  });

  test('is refused for a NUL or an unpaired surrogate anywhere, and for nesting over 64 levels', () => {
    const fault = fc.constantFrom('"\\u0000"', '"a\\ud800b"', '{"\\udc00":1}', '{"a\\u0000":1}');
    const layer = fc.constantFrom(['[', ']'], ['{"a":', '}'], ['[1,', ',"z"]']);
    const wrap = fc.oneof(
      fc.array(layer, { maxLength: 100 }),
      fc.array(layer, { minLength: 63, maxLength: 66 }),
    );
    fc.assert(
      fc.property(fault, wrap, fc.boolean(), (bad, around, hasFault) => {
        const inner = hasFault ? bad : '1';
        const text = around.reduce((value, [open, close]) => open + value + close, inner);
        const outcome = outcomeOf(() => readJsonObject(Buffer.from(`{"field":${text}}`)));
        expect('problem' in outcome || outcome.value.problems.length > 0).toBe(
          hasFault || around.length > 64,
        );
      }),
      { numRuns: 200 },
    );
  });
});

describe('the id of a path', () => {
  test('is every integer from 1 to 2^53-1, in one spelling', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (id) => {
        const outcome = outcomeOf(() => parseId(String(id)));
        expect('value' in outcome ? outcome.value : outcome.problem.code).toBe(id > 0 ? id : 'not_found');
      }),
    );
  });

  test('is nothing else', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 20 });
    const text = fc.oneof(
      anyText,
      digits,
      fc.double().map(String),
      fc.tuple(digits, fc.constantFrom(' ', '+', '-', '.0', 'e0', 'n', '\n', '٣')).map(([a, b]) => a + b),
      fc.tuple(fc.constantFrom(' ', '+', '-', '0', '0x', '\t'), digits).map(([a, b]) => a + b),
    );
    fc.assert(
      fc.property(text, (given) => {
        const outcome = outcomeOf(() => parseId(given));
        if ('value' in outcome) expect(String(outcome.value)).toBe(given);
        else expect(outcome.problem.code).toBe('not_found');
      }),
      { numRuns: 500 },
    );
  });
});
