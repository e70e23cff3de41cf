import { expect, test } from 'vitest';
import { subscriptionExample } from '../../../proto/schemas/webhooks.ts';
import { listSubscriptions, type Subscription } from './subscriptions.ts';

const make = (id: number, name: string, more: Partial<Subscription> = {}): Subscription =>
  ({
    ...subscriptionExample,
    autoDisabled: false,
    verification: null,
    missed: null,
    health,
    id,
    name,
    ...more,
  }) as Subscription;
const health = { succeeded24h: 1204, failed24h: 3, held: 0, waiting: 1 };

const all = [
  make(1, 'Working'),
  make(2, 'Paused', { enabled: false }),
  make(3, 'Failing', { consecutiveFailures: 7 }),
  make(4, 'Switched off', { enabled: false, autoDisabled: true }),
  make(5, 'Älter', { url: 'https://hooks.example.com/ACCOUNTING' }),
];
const names = (wanted: Parameters<typeof listSubscriptions>[1]) =>
  listSubscriptions(all, wanted).map(({ name }) => name);

test('those in trouble come first, then by name', () => {
  expect(names({})).toEqual(['Switched off', 'Failing', 'Älter', 'Working', 'Paused']);
});

test('all words must occur in the name, the URL or an event type', () => {
  expect(names({ q: 'accounting hooks' })).toEqual(['Älter']);
  expect(names({ q: 'nowhere' })).toEqual([]);
});

test('a state leaves out the others', () => {
  expect(names({ state: 'off' })).toEqual(['Switched off']);
  expect(names({ state: 'disabled' })).toEqual(['Paused']);
});

test('other orders', () => {
  expect(names({ sort: 'newest' })).toEqual(['Älter', 'Switched off', 'Failing', 'Paused', 'Working']);
});
