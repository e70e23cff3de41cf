import { expect, test } from 'vitest';
import { eventTypes, samplePayload } from '../events.ts';
import { masked, maskPayload } from '../portal/mask.ts';
import { subjectOf, summaryOf } from './summary.ts';

test('A summary has the amount with two decimals, and the change of a status', () => {
  expect(summaryOf({ invoice_number: 'INV-3001', amount: 129.5, currency: 'USD' })).toBe(
    'INV-3001 · 129.50 USD',
  );
  expect(summaryOf({ amount: 129 })).toBe('129');
  expect(summaryOf({ amount: 1.234, currency: 'KWD' })).toBe('1.234 KWD');
  expect(summaryOf({ first_name: 'Ada', previous_status: 'Lead', new_status: 'Client' })).toBe(
    'Lead → Client',
  );
  expect(summaryOf({})).toBe('');
});

test('Every type of event has a subject, and its name is hidden where the payload is masked', () => {
  for (const type of eventTypes) {
    const payload: Readonly<Record<string, unknown>> = { ...samplePayload(type, new Date()) };
    expect(subjectOf(payload)?.kind, type).toBe(type.startsWith('affiliate') ? 'affiliate' : 'client');
    const hidden = subjectOf(maskPayload(type, payload) as typeof payload);
    expect(hidden, type).toMatchObject({ id: expect.any(Number), name: null });
    expect(JSON.stringify(hidden)).not.toContain(masked);
  }
  expect(subjectOf({ client_id: 7, first_name: 'Łukasz', last_name: 'Hopper' })).toEqual({
    kind: 'client',
    id: 7,
    name: 'Łukasz Hopper',
  });
  expect(subjectOf({ invoice_id: 7 })).toEqual({ kind: 'invoice', id: 7, name: null });
  for (const odd of [{}, { client_id: '7' }, { client_id: -1 }, { client_id: 1.5 }, { client_id: null }])
    expect(subjectOf(odd)).toBeNull();
});
