import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson, readJsonObject } from './json.ts';
import { isHeldExactly, maxDetails, maxKeys, scanJson } from './scan-json.ts';

const problemsOf = (text: string) =>
  scanJson(text).problems.map(({ field, message }) => `${field}: ${message}`);

const marks = ['"', '\\', '{', '}', '[', ']', ',', ':'];

describe('a scan of JSON', () => {
  test('finds no problem in what JSON.stringify writes', () => {
    const key = fc.string({ unit: 'grapheme', maxLength: 5 }).filter((text) => text !== '__proto__');
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.string({ unit: 'grapheme' }),
        fc.double(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value')),
        fc.dictionary(key, tie('value')),
      ),
    }));
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), (given, indent) => {
        const text = JSON.stringify(given, undefined, indent);
        fc.pre(!text.includes('\\u'));
        expect(scanJson(text)).toEqual({ problems: [], stopped: false });
      }),
      { numRuns: 500 },
    );
  });

  test('reports the path of each duplicate key, in any spelling', () => {
    type Node =
      | number
      | readonly Node[]
      | { readonly members: readonly (readonly [string, boolean, Node])[] };
    const name = fc.oneof(
      fc.constantFrom('a', 'b', 'c'),
      fc.nat(25).map((at) => `k${at}`),
    );
    const { node } = fc.letrec<{ node: Node }>((tie) => ({
      node: fc.oneof(
        { depthSize: 'small' },
        fc.nat(9),
        fc.array(tie('node'), { maxLength: 3 }),
        fc
          .array(fc.tuple(name, fc.boolean(), tie('node')), { maxLength: 30 })
          .map((members) => ({ members })),
      ),
    }));
    const escaped = (text: string) =>
      `\\u${text.charCodeAt(0).toString(16).padStart(4, '0')}${text.slice(1)}`;
    const render = (one: Node): string => {
      if (typeof one === 'number') return String(one);
      if ('members' in one)
        return `{${one.members.map(([key, asEscape, value]) => `"${asEscape ? escaped(key) : key}" : ${render(value)}`).join(' ,')}}`;
      return `[${one.map(render).join(', ')}]`;
    };
    const repeats = (one: Node, place: string): string[] => {
      if (typeof one === 'number') return [];
      if (!('members' in one)) return one.flatMap((item, at) => repeats(item, `${place}[${at}]`));
      const seen = new Set<string>();
      return one.members.flatMap(([key, , value]) => {
        const here = place === '' ? key : `${place}.${key}`;
        const own = seen.has(key) ? [`${here}: ${here} must be given only once`] : [];
        seen.add(key);
        return [...own, ...repeats(value, here)];
      });
    };
    fc.assert(
      fc.property(node, (given) => {
        const expected = repeats(given, '');
        fc.pre(expected.every((line) => line.length < 150));
        expect(problemsOf(render(given))).toEqual(expected.slice(0, maxDetails));
      }),
      { numRuns: 500 },
    );
  });

  test('ends for any text', () => {
    const piece = fc.constantFrom(...marks, '1e9', '-', 'a', '\\u0000', ' ', '😀');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        expect(scanJson(pieces.join('')).problems.length).toBeLessThanOrEqual(maxDetails);
      }),
      { numRuns: 3000 },
    );
  });

  test.each([
    ['{"payload":{"amount":1e400}}', 'payload.amount'],
    ['{"payload":{"ids":[1,9007199254740993]}}', 'payload.ids[1]'],
    ['{"payload":{"ids":[1,12345678901234567890]}}', 'payload.ids[1]'],
    ['{"a":1e-400}', 'a'],
    ['{"a":0.1234567890123456789}', 'a'],
  ])('of %s reports the number that would be altered', (text, field) => {
    const message = `${field} cannot be stored exactly as a number`;
    expect(scanJson(text).problems).toEqual([{ field, code: 'out_of_range', message }]);
  });

  test('reports a nested key __proto__, which JavaScript would lose', () => {
    expect(problemsOf('{"payload":{"a":[{"__proto__":1}]}}')).toEqual([
      'payload.a[0].__proto__: payload.a[0].__proto__ is not an allowed key',
    ]);
    expect(problemsOf('{"payload":{"\\u005f_proto__":1}}')).toHaveLength(1);
    // At the top level it is an unknown field like any other.
    expect(problemsOf('{"__proto__":1,"payload":"__proto__"}')).toEqual([]);
  });

  test('stops at too many keys and at too many levels, and reports a bounded number of problems', () => {
    const keys = (count: number) => `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',')}}`;
    expect(scanJson(keys(maxKeys)).stopped).toBe(false);
    // Neither text that looks like a key nor blanks before a colon change the count.
    const lookalikes = `{"text":${JSON.stringify('":'.repeat(maxKeys))},${keys(maxKeys - 1).slice(1)}`;
    expect(scanJson(lookalikes).stopped).toBe(false);
    expect(scanJson(keys(maxKeys + 1).replaceAll(':', ' \n:')).stopped).toBe(true);
    expect(scanJson(keys(maxKeys + 1))).toEqual({
      problems: [{ field: 'body', code: 'too_long', message: 'the body must have at most 20000 keys' }],
      stopped: true,
    });
    expect(scanJson(`{"a":${'['.repeat(65)}`)).toMatchObject({ stopped: true });
    expect(problemsOf(`{"a":[${'1e999,'.repeat(5000)}1]}`)).toHaveLength(maxDetails);
  });
});

test('a number is exact if it has the value of its shortest text, or is an integer of exactly its value', () => {
  /** Digits × 10^exponent as an exact fraction. */
  const fractionOf = (text: string): readonly [bigint, bigint] => {
    const [, sign, whole = '', fraction = '', power = '0'] =
      /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
    const digits = BigInt(`${sign}${whole}${fraction}`);
    const exponent = Number(power) - fraction.length;
    return exponent >= 0 ? [digits * 10n ** BigInt(exponent), 1n] : [digits, 10n ** BigInt(-exponent)];
  };
  /** The value of a double that is an integer, from its bits. */
  const exactValue = (number: number): bigint => {
    const bits = new DataView(new ArrayBuffer(8));
    bits.setFloat64(0, Math.abs(number));
    const exponent = (bits.getUint32(0) >>> 20) - 1075;
    const mantissa = (bits.getBigUint64(0) & (2n ** 52n - 1n)) | (2n ** 52n);
    const value = exponent < 0 ? mantissa >> BigInt(-exponent) : mantissa << BigInt(exponent);
    return number < 0 ? -value : value;
  };
  const digits = (min: number, max: number) =>
    fc.string({ unit: fc.constantFrom(...'0012345678999'), minLength: min, maxLength: max });
  const number = fc
    .tuple(
      fc.constantFrom('', '-'),
      digits(1, 22),
      fc.option(digits(1, 22)),
      fc.option(fc.integer({ min: -330, max: 330 })),
    )
    .map(([sign, whole, fraction, power]) => {
      const start = `${sign}${whole.replace(/^0+(?=\d)/, '')}`;
      return `${start}${fraction === null ? '' : `.${fraction}`}${power === null ? '' : `e${power}`}`;
    });
  const double = fc.double({ noNaN: true, noDefaultInfinity: true });
  const large = fc
    .tuple(fc.integer({ min: 53, max: 1023 }), fc.double({ min: 1, max: 2, maxExcluded: true, noNaN: true }))
    .map(([power, factor]) => factor * 2 ** power);
  const nearby = fc
    .tuple(fc.integer({ min: 53, max: 77 }), fc.bigInt({ min: -3000n, max: 3000n }), fc.boolean())
    .map(([power, by, isNegative]) => `${isNegative ? '-' : ''}${2n ** BigInt(power) + by}`);
  fc.assert(
    fc.property(
      fc.oneof(
        number,
        double.map(String),
        large.map(String),
        large.map((one) => String(exactValue(one))),
        large.map((one) => `${exactValue(-one)}0e-1`),
        nearby,
        fc.constantFrom('1e22', '1e23', '99999999999999991611392', '1E+22', '1180591620717411303424e0'),
      ),
      (written) => {
        const held = String(Number(written));
        let isSame = false;
        if (Number.isFinite(Number(written))) {
          const [a, b] = fractionOf(written);
          const [c, d] = fractionOf(held);
          isSame = a * d === c * b;
          const isLarge = Math.abs(Number(written)) >= 2 ** 53;
          if (isLarge && a === exactValue(Number(written)) * b) isSame = true;
        }
        expect(isHeldExactly(written)).toBe(isSame);
        expect(scanJson(`{"a":${written}}`).problems.length).toBe(isSame ? 0 : 1);
      },
    ),
    { numRuns: 5000 },
  );
});

test('the digits of an integer are compared however many there are', () => {
  expect(isHeldExactly(`1${'0'.repeat(200_000)}e-199999`)).toBe(true);
  expect(isHeldExactly(`${'1'.repeat(200_000)}e-199999`)).toBe(false);
});

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
  const piece = fc.constantFrom(...marks, '', '0', '-', '.', 'e', 'x', '\n', 'true');
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
