import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { unicode } from '../testing/unicode.ts';
import * as f from './fields.ts';
import { idParameter } from './fields.ts';
import { codePoints, cut, echo, isBlank, optionalText, text } from './values.ts';
import { targetUrl } from './webhooks.ts';

const take = (schema: z.ZodType, value: unknown): unknown => {
  const result = schema.safeParse(value);
  return result.success ? result.data : refused;
};
const refused = Symbol('refused');
const anyText = fc.string({ unit: unicode, maxLength: 120 });
const of = (characters: string, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...characters), maxLength });

describe('an email address', () => {
  test('of the usual form is accepted unchanged, without outer blanks', () => {
    fc.assert(
      fc.property(fc.emailAddress({ size: 'small' }), of(' \t\n', 3), (address, blanks) => {
        // Neither supports quoted strings and other old forms.
        expect(take(f.email, blanks + address + blanks)).toBe(address);
      }),
      { numRuns: 300 },
    );
  });

  test('that is accepted has one @, a domain of two labels or more, no blank, and fits its column', () => {
    const near = of('ab1.@-_é ,;<>"\\\n\t[]ł', 30);
    fc.assert(
      fc.property(
        fc.oneof(
          near,
          anyText,
          fc.tuple(near, near).map((parts) => parts.join('@')),
        ),
        (given) => {
          const taken = take(f.email, given);
          if (taken === refused) return;
          const [local = '', domain = '', ...more] = String(taken).split('@');
          expect(more).toEqual([]);
          expect(String(taken)).not.toMatch(/[\s,;<>"\\[\]]/);
          expect(domain.split('.').length).toBeGreaterThan(1);
          for (const label of domain.split('.'))
            expect(label).toMatch(/^[\p{L}\p{N}]([\p{L}\p{N}\p{M}\p{Join_Control}-]*[\p{L}\p{N}\p{M}])?$/u);
          expect([local.startsWith('.'), local.endsWith('.'), local.includes('..')]).toEqual([
            false,
            false,
            false,
          ]);
          expect(Buffer.byteLength(String(taken))).toBeLessThanOrEqual(254);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('is checked in time that does not explode with its length', () => {
    const evil = fc.constantFrom('a', 'a.', '-', 'a-', 'é', '.a', '@a', 'a@');
    fc.assert(
      fc.property(evil, fc.nat(100_000), fc.constantFrom('', '@', '@a', '!', '\n'), (part, times, end) => {
        const before = process.cpuUsage();
        take(f.email, `a@${part.repeat(times)}${end}`);
        take(f.email, part.repeat(times) + end);
        // CPU time, because other processes share the machine.
        expect(process.cpuUsage(before).user / 1000).toBeLessThan(500);
      }),
      { numRuns: 30 },
    );
  });
});

describe('a text', () => {
  test('is trimmed, and accepted if its number of code points is within the bounds', () => {
    const bounds = fc.tuple(fc.nat(3), fc.nat(10)).map(([min, more]) => ({ min, max: min + more }));
    fc.assert(
      fc.property(
        bounds,
        fc.string({ unit: fc.constantFrom('a', ' ', '😀', 'é', '\n', '\u0007'), maxLength: 16 }),
        (rule, given) => {
          const trimmed = given.trim();
          const length = [...trimmed].length;
          const isIn = length >= rule.min && length <= rule.max;
          expect(take(text(rule), given)).toBe(isIn ? trimmed : refused);
          const isLine = isIn && !trimmed.includes('\n') && !trimmed.includes('\u0007');
          expect(take(text({ ...rule, oneLine: true }), given)).toBe(isLine ? trimmed : refused);
          const most = length <= rule.max;
          expect(take(optionalText({ max: rule.max }), given)).toBe(most ? trimmed || null : refused);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('is truncated at a code point, and repeated as valid Unicode', () => {
    const units = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), maxLength: 30 });
    fc.assert(
      fc.property(fc.oneof(units, anyText), fc.nat(30), (given, most) => {
        expect(cut(given, most)).toBe([...given].slice(0, most).join(''));
        expect(echo(given.repeat(20)).isWellFormed()).toBe(true);
        expect(codePoints(echo(given.repeat(20)))).toBeLessThanOrEqual(101);
      }),
    );
  });

  test('is counted in code points; unpaired surrogates count one each', () => {
    const units = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), maxLength: 30 });
    fc.assert(
      fc.property(units, (given) => {
        expect(codePoints(given)).toBe(Array.from(given).length);
      }),
    );
  });
});

test('a status is parsed as an id or a name, and its text is kept', () => {
  fc.assert(
    fc.property(fc.oneof(fc.maxSafeNat(), of('0123456789', 18), anyText), (given) => {
      const taken = take(f.statusReference, given) as { id: number } | { name: string } | typeof refused;
      if (taken === refused) {
        const size = typeof given === 'number' ? given : [...given.trim()].length;
        expect(size === 0 || (typeof given === 'string' && (size > 100 || isBlank(given)))).toBe(true);
      } else if ('id' in taken) {
        expect(String(taken.id)).toBe(String(given).trim());
        expect(Number.isSafeInteger(taken.id)).toBe(true);
      } else expect(taken.name).toBe(String(given).trim());
    }),
    { numRuns: 500 },
  );
});

describe('a parameter', () => {
  const digits = of('0123456789', 20);
  const near = fc.oneof(digits, anyText, of('0123 +-.e', 5), fc.integer().map(String));

  test('of an id is an integer that JavaScript can hold, in one spelling', () => {
    fc.assert(
      fc.property(near, (given) => {
        const taken = take(idParameter, given);
        if (taken !== refused) expect(String(taken)).toBe(given);
        else expect(/^[1-9]\d{0,14}$/.test(given)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the URL of a subscription', () => {
  test('with http or https is accepted unchanged', () => {
    const scheme = fc.constantFrom('https://', 'http://', 'HTTPS://');
    const port = fc.constantFrom('', ':8443', ':80');
    const rest = of('abcXYZ019-._~%2F/&=+,;:@é東😀', 60).map((text) => `/${text}?${text}#${text}`);
    fc.assert(
      fc.property(fc.tuple(scheme, fc.domain(), port, fc.oneof(fc.constant(''), rest)), (parts) => {
        const url = parts.join('');
        expect(take(targetUrl, url)).toBe([...url].length <= 500 ? url : refused);
      }),
      { numRuns: 300 },
    );
  });

  test('that is accepted has http or https, a host, no user info and no blanks', () => {
    const scheme = fc.constantFrom(
      'https://',
      'http://',
      'HTTPS://',
      'https:',
      'ftp://',
      '//',
      'javascript:',
      '',
    );
    const userInfo = fc.constantFrom('a@b.example', 'a:b@c.example', ':b@c.example', '@c.example');
    const rest = fc.oneof(of('a.@:/?#[]%0 \\\t\n-_', 20), anyText, userInfo);
    fc.assert(
      fc.property(scheme, rest, (start, end) => {
        const taken = take(targetUrl, start + end);
        if (taken === refused) return;
        const url = new URL(String(taken));
        expect(url.protocol).toMatch(/^https?:$/);
        expect([url.username, url.password]).toEqual(['', '']);
        expect(url.hostname).not.toBe('');
        expect(taken).not.toMatch(/\s/);
      }),
      { numRuns: 1000 },
    );
  });
});
