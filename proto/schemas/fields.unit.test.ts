import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import * as f from './fields.ts';

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

test('texts are trimmed, and a blank optional text means no value', () => {
  expect(f.personName.parse(' Ada Mary ')).toBe('Ada Mary');
  expect(f.city.parse('   ')).toBeNull();
  expect(f.email.parse(' Ada@Example.com ')).toBe('Ada@Example.com');
});
