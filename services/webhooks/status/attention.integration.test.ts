import { unverifiedReason } from '@causeway/proto';
import { expect, test } from 'vitest';
import { makeSubscription } from '../testing/events.ts';
import { bootPortal } from '../testing/portal.ts';

const { db, portal } = await bootPortal();
const company = 7000;
const nothing = { subscriptions: 0, held: 0, missed: 0, firstId: null };

test('counts what the service disabled, what fails and what waits, and nothing that a person disabled', async () => {
  const off = (minute: number) => ({
    enabled: 0,
    auto_disabled: 1,
    disabled_reason: '20 consecutive failures',
    disabled_utc: new Date(Date.UTC(2026, 0, 15, 9, minute)),
  });
  await makeSubscription(db, company, { name: 'Works' });
  await makeSubscription(db, company, { name: 'Had a failure', consecutive_failures: 4 });
  await makeSubscription(db, company, { name: 'Fails', consecutive_failures: 5 });
  await makeSubscription(db, company, { name: 'Paused', enabled: 0, disabled_utc: new Date() });
  await makeSubscription(db, company, {
    enabled: 0,
    verification: 'pending',
    disabled_reason: unverifiedReason,
    disabled_utc: new Date(),
  });
  await makeSubscription(db, company, { name: 'Off first', ...off(0) });
  const last = await makeSubscription(db, company, { name: 'Off last', ...off(30) });
  await makeSubscription(db, company + 1, off(0));
  await db
    .insertInto('missed_events')
    .values({ company_id: company, subscription_id: last, missed: 3, since_utc: new Date() })
    .execute();
  const { body } = await portal('getAttention', company, { role: 'viewer' });
  expect(body).toMatchObject({ offCount: 2, failingCount: 1, unverifiedCount: 1, undecided: nothing });
  expect(body.off.map(({ name }: { name: string }) => name)).toEqual(['Off last', 'Off first']);
});

test('of a company without subscriptions is nothing', async () => {
  const { body } = await portal('getAttention', company + 2, { role: 'viewer' });
  expect(body).toEqual({ offCount: 0, off: [], failingCount: 0, unverifiedCount: 0, undecided: nothing });
});

test('names enabled subscriptions whose held deliveries or missed events wait for a decision', async () => {
  const mine = company + 3;
  const ids = await Promise.all(['A', 'B', 'C'].map((name) => makeSubscription(db, mine, { name })));
  await db
    .updateTable('delivery_queues')
    .set({ held_deliveries: 40 })
    .where('company_id', '=', mine)
    .where('subscription_id', '=', ids[1]!)
    .execute();
  await db
    .insertInto('missed_events')
    .values({ company_id: mine, subscription_id: ids[2]!, missed: 8, since_utc: new Date() })
    .execute();
  const { body } = await portal('getAttention', mine, { role: 'viewer' });
  expect(body.undecided).toEqual({
    subscriptions: 2,
    held: 40,
    missed: 8,
    firstId: Math.min(ids[1]!, ids[2]!),
  });
});
