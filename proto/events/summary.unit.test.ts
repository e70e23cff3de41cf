import { expect, test } from 'vitest';
import { summaryOf } from './summary.ts';

test('A summary names the person, the amount with two decimals, and the change of a status', () => {
  expect(summaryOf({ invoice_number: 'INV-3001', amount: 129.5, currency: 'USD' })).toBe(
    'INV-3001 · 129.50 USD',
  );
  expect(summaryOf({ amount: 129 })).toBe('129');
  expect(summaryOf({ amount: 1.234, currency: 'KWD' })).toBe('1.234 KWD');
  expect(summaryOf({ first_name: 'Ada', previous_status: 'Lead', new_status: 'Client' })).toBe(
    'Ada · Lead → Client',
  );
  expect(summaryOf({})).toBe('');
});
