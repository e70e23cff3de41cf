import { expect, test } from 'vitest';
import { changesOf } from './changes-of.ts';

test('Each event is compared with the one before it about the same thing', () => {
  const payloads = [
    { client_id: 7, email: 'a@x.org', status: 'Lead', created_date: '1' },
    { client_id: 7, invoice_id: 1, status: 'open', amount: 5 },
    { client_id: 7, invoice_id: 2, status: 'open', amount: 9 },
    { client_id: 7, previous_status: 'Lead', new_status: 'Client', changed_date: '2', status_note: 'x' },
    { client_id: 7, invoice_id: 1, previous_status: 'open', new_status: 'paid' },
    { client_id: 7, email: 'b@x.org', status: 'Client' },
  ];
  const events = payloads.map((payload, at) => ({
    ...{ id: at, type: 'client.created' as const, createdUtc: '', companyId: 1, origin: null },
    payload,
  }));
  const found = changesOf(events.toReversed()).map(({ event, before, after }) => [event.id, before, after]);
  expect(found.toReversed()).toEqual([
    [0, {}, {}],
    [1, {}, {}],
    [2, {}, {}],
    [3, { status: 'Lead' }, { status: 'Client' }],
    [4, { status: 'open' }, { status: 'paid' }],
    [5, { email: 'a@x.org' }, { email: 'b@x.org' }],
  ]);
});
