import { expect, test } from 'vitest';
import { canHold, conditionName, matches, type PayloadCondition } from './conditions.ts';
import { eventTypes, samplePayload } from './events.ts';
import { conditionProblems } from './schemas/subscription-rules.ts';

const payload = { amount: 100, status: 'open', phone: ' ', note: null, is_approved: false };

test.each<[PayloadCondition, boolean]>([
  [{ field: 'status', equals: 'open' }, true],
  [{ field: 'status', equals: 'Open' }, false],
  [{ field: 'amount', equals: '100' }, false],
  [{ field: 'is_approved', equals: false }, true],
  [{ field: 'status', in: ['paid', 'open'] }, true],
  [{ field: 'status', in: ['paid'] }, false],
  [{ field: 'status', startsWith: 'op' }, true],
  [{ field: 'amount', startsWith: '1' }, false],
  [{ field: 'amount', min: 100 }, true],
  [{ field: 'amount', max: 100 }, true],
  [{ field: 'amount', min: 100.01 }, false],
  [{ field: 'amount', min: 0, max: 99 }, false],
  [{ field: 'status', min: 0 }, false],
  [{ field: 'phone', exists: true }, false],
  [{ field: 'note', exists: false }, true],
  [{ field: 'gone', exists: false }, true],
  [{ field: 'gone', equals: 'x' }, false],
  [{ field: 'constructor', exists: true }, false],
  [{ field: '__proto__', exists: true }, false],
])('%o of the payload: %s', (condition, expected) => {
  expect(matches([condition], payload)).toBe(expected);
});

test('a text without a visible character does not exist', () => {
  for (const name of ['', ' ', '\u200b', '\u2800\u3164', '\ufeff'])
    expect(matches([{ field: 'name', exists: true }], { name })).toBe(false);
  for (const name of ['a', '\u200ba', '-'])
    expect(matches([{ field: 'name', exists: true }], { name })).toBe(true);
});

test.each<[boolean, readonly Omit<PayloadCondition, 'field'>[]]>([
  [false, [{ min: 9, max: 1 }]],
  [false, [{ min: 9 }, { max: 1 }]],
  [false, [{ equals: 'a' }, { equals: 'b' }]],
  [false, [{ equals: 'a' }, { in: ['b', 'c'] }]],
  [false, [{ in: ['a', 'b'] }, { in: ['b', 'c'] }, { in: ['c', 'a'] }]],
  [false, [{ exists: true }, { exists: false }]],
  [false, [{ exists: false }, { equals: 5 }]],
  [false, [{ exists: false }, { min: 5 }]],
  [false, [{ startsWith: 'ab' }, { startsWith: 'b' }]],
  [false, [{ startsWith: 'ab' }, { equals: 'a' }]],
  [false, [{ startsWith: 'a' }, { exists: false }]],
  [false, [{ in: [1, 2] }, { min: 3 }]],
  [false, [{ exists: true }, { equals: ' ' }]],
  [true, [{ min: 1, max: 1 }]],
  [true, [{ min: 1 }, { min: 5 }, { max: 7 }, { exists: true }]],
  [true, [{ equals: 'a' }, { in: ['b', 'a'] }, { startsWith: 'a' }]],
  [true, [{ exists: false }, { equals: '' }]],
  [true, [{ startsWith: ' ' }, { exists: true }]],
  [true, [{ startsWith: 'a' }, { startsWith: 'ab' }]],
  [true, [{ equals: false }, { exists: true }]],
  [true, [{ exists: true }]],
  [true, [{ exists: false }]],
])('%s: that some value meets %o', (expected, all) => {
  expect(canHold(all.map((one) => ({ field: 'f', ...one })))).toBe(expected);
});

test('all conditions must hold, and none means every event', () => {
  const [open, large] = [
    { field: 'status', equals: 'open' },
    { field: 'amount', min: 500 },
  ] as const;
  expect(matches([open, large], payload)).toBe(false);
  expect([null, []].map((none) => matches(none, payload))).toEqual([true, true]);
});

test('the payload of an erased person meets no condition', () => {
  const erased = { client_id: 7, erased: true };
  expect(matches([{ field: 'client_id', equals: 7 }], erased)).toBe(false);
  expect(matches([{ field: 'email', exists: false }], erased)).toBe(false);
  expect(matches(null, erased)).toBe(true);
});

test('conditions name fields that each of the types has, with values of the field', () => {
  const problems = (...all: PayloadCondition[]) =>
    conditionProblems(['invoice.created', 'payment.failed'], all).map(({ field, message }) => [
      field,
      message,
    ]);
  expect(problems({ field: 'amount', min: 1 }, { field: 'client_id', in: [1, 2] })).toEqual([]);
  expect(problems({ field: 'amount', min: 1 }, { field: 'due_date', exists: true })).toEqual([
    [
      'conditions[1].field',
      expect.stringMatching(/^payment\.failed has no field due_date; it has payment_id, /),
    ],
  ]);
  expect(problems({ field: 'amount', startsWith: '1' })).toEqual([
    ['conditions[0].field', 'amount is a number in invoice.created; the condition is for a string'],
  ]);
  expect(problems({ field: 'amount', in: [1, '2'] })).toHaveLength(1);
  expect(problems({ field: 'constructor', exists: true })).toHaveLength(1);
});

test('every field of every sample can be tested for', () => {
  for (const type of eventTypes)
    for (const field of Object.keys(samplePayload(type, new Date())))
      expect(conditionProblems([type], [{ field, exists: true }]), `${type} ${field}`).toEqual([]);
});

test('the name of a condition has no value', () => {
  expect(conditionName({ field: 'email', equals: 'katherine@example.com' })).toBe('email equals');
  expect(conditionName({ field: 'amount', min: 1, max: 2 })).toBe('amount min max');
});
