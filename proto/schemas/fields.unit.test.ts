import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { unicode } from '../testing/unicode.ts';
import * as f from './fields.ts';
import { codePoints, cut, echo, isBlank, optionalText, text } from './values.ts';
import { targetUrl } from './webhooks.ts';

const accepts = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success;

const table: readonly [name: string, schema: z.ZodType, good: readonly unknown[], bad: readonly unknown[]][] =
  [
    [
      'first_name and last_name',
      f.personName,
      ['A', ' Ada ', "O'Neil-Ünal", '李', 'x'.repeat(100), '😀'.repeat(100)],
      [
        '',
        '   ',
        '\u200b',
        '\u200b\u2060\ufeff',
        '\u3164',
        '\u2800 ',
        'a\nb',
        'a\tb',
        'a\u0085b',
        '\u007f',
        'x'.repeat(101),
        7,
        null,
        undefined,
        ['Ada'],
      ],
    ],
    [
      'email',
      f.email,
      [
        'a@b.co',
        'A.B+c_d@Sub.Example.COM',
        "o'neil@example.com",
        'jörg@münchen.de',
        ' a@b.co ',
        `${'x'.repeat(64)}@b.co`,
        'a@mu\u0308nchen.de',
        'जोन@उदाहरण.भारत',
      ],
      [
        'a@نامه\u200cای.com',
        'a\u200bb@b.co',
        '\u202ea@b.co',
        'a@b.co\ufe0f',
        'a@127.0.0.1',
        'a@b.123',
        '',
        'a',
        'a@b',
        '@b.co',
        'a@',
        'a b@c.co',
        'a@b.co,c@d.co',
        'a@b.co; c@d.co',
        'a@@b.co',
        'a@b..co',
        '.a@b.co',
        'a.@b.co',
        'a..b@c.co',
        'a@-b.co',
        'a@b-.co',
        'Ada <a@b.co>',
        'a@b.co\u0000x',
        `${'x'.repeat(65)}@b.co`,
        `a@${'b'.repeat(64)}.co`,
        `a@${'bcdefghij.'.repeat(26)}co`,
        7,
      ],
    ],
    [
      'phone',
      f.optionalPhone,
      [
        ...['123', '+1 (555) 010-4477', '555.010.4477x12', '1/2/3', '9'.repeat(32), null, undefined],
        ...[
          '555 ext 4',
          'tel:+1-555-010-4477;ext=12',
          '555 010 4477 #12',
          '5550104477 Ext. 12',
          '555 0104 int 7',
        ],
      ],
      ['', '12', '()-', '+1-', '1 2', '9'.repeat(33), '555 next 4', 'tel:', '555 ~4', '٣٣٣٣', 5550104477],
    ],
    ['city', f.city, ['', 'Graz', ' x '.repeat(1), 'x'.repeat(100), null], ['x'.repeat(101), 5]],
    ['state', f.state, ['', 'x'.repeat(64), null], ['x'.repeat(65), 5]],
    ['zip', f.zip, ['', 'x'.repeat(16), null], ['x'.repeat(17), 5]],
    ['package_keyword', f.packageKeyword, ['', 'x'.repeat(100), null], ['x'.repeat(101), 5]],
    ['external_id', f.externalId, ['', 'x'.repeat(100), null], ['x'.repeat(101), 5]],
    ['affiliate_code', f.affiliateCode, ['', 'x'.repeat(100), null], ['x'.repeat(101), 5]],
    ['affiliate_company_name', f.affiliateCompanyName, ['', 'x'.repeat(200), null], ['x'.repeat(201), 5]],
    [
      'commission_rate',
      f.commissionRate,
      [0, 100, 12.5, 0.01, 99.99, 33.33, 1.1, null, undefined],
      [-0.01, 100.01, 1.001, 12.345, '5', true, Number.POSITIVE_INFINITY, Number.NaN],
    ],
    [
      'employee_id, affiliate_id and changed_by_employee_id',
      f.optionalRecordId,
      [1, Number.MAX_SAFE_INTEGER, null, undefined],
      [0, -1, 1.5, '1', true, Number.MAX_SAFE_INTEGER + 1, 1e300],
    ],
    ['is_active and is_approved', f.flag, [true, false], ['true', 0, 1, null]],
    ['status_note', f.statusNote, ['', 'two\nlines', 'x'.repeat(2000), null], ['x'.repeat(2001), 5]],
    ['text', f.noteText, ['x', 'two\nlines', 'x'.repeat(10_000)], ['', ' \n ', 'x'.repeat(10_001), null, 5]],
    ['note_type', f.noteType, ['', 'call', 'x'.repeat(50), null], ['x'.repeat(51), 5]],
    ['visibility', f.visibility, ['', 'internal', 'x'.repeat(50), null], ['x'.repeat(51), 5]],
    [
      'status',
      f.statusReference,
      [1, '1', 'Client - Active', 'x'.repeat(100)],
      [0, -1, 1.5, '', ' ', 'x'.repeat(101), true, null],
    ],
  ];

describe.each(table)('%s', (_, schema, good, bad) => {
  test.each(good.map((value) => [value]))('accepts %j', (value) => {
    expect(accepts(schema, value)).toBe(true);
  });
  test.each(bad.map((value) => [value]))('refuses %j', (value) => {
    expect(accepts(schema, value)).toBe(false);
  });
});

const problemOf = (url: string): string | undefined => targetUrl.safeParse(url).error?.issues[0]?.message;

describe("A subscription's URL", () => {
  test.each([
    'https://hooks.example.com',
    'https://hooks.example.com/a?b=1#c',
    'HTTPS://hooks.example.com:8443?b=@',
    'https://hooks.example.com/a@b',
    'https://exämple.com/ä?ö',
    'https://hooks.example.com:65535/',
  ])('may be %s', (url) => {
    expect(problemOf(url)).toBeUndefined();
  });

  test('is trimmed', () => {
    expect(targetUrl.parse(' https://hooks.example.com/\n')).toBe('https://hooks.example.com/');
  });

  test.each([
    'https:///host',
    'https://',
    'https://?a',
    'https://:443/',
    'https:host',
    'https:/host',
    'https:\\\\host',
    'https://host\\x',
    'https://host/a\\b',
    'https://host?a\\b',
    'https:// host',
    'https://host/a b',
    'https://ho\nst/',
    'https://host:65536/',
    'ftp://host/',
  ])('is invalid as %j: no host, a backslash, a blank or another scheme', (url) => {
    expect(problemOf(url)).toMatch(
      /[\\\s]/.test(url)
        ? /^invalid URL: it must not contain spaces/
        : /^invalid URL: it must be absolute, begin with https/,
    );
  });

  test.each(['https://@host', 'https://:@host/', 'https://user@host', 'https://user:pass@host/'])(
    'has no user info, an empty one included: %s',
    (url) => {
      expect(problemOf(url)).toMatch(/^invalid URL: it must not have a user name/);
    },
  );

  test.each(['https://host:0', 'https://host:00/'])('has no port 0: %s', (url) => {
    expect(problemOf(url)).toBe('invalid URL: the port must be from 1 to 65535');
  });

  test('has at most 500 code points, however many UTF-16 units they take', () => {
    const url = (characters: number): string => {
      const base = 'https://hooks.example.com/';
      return base + '😀'.repeat(characters - base.length);
    };
    expect(problemOf(url(500))).toBeUndefined();
    expect(problemOf(url(501))).toBe('URL exceeds 500 characters (actual: 501)');
  });
});

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
