import { contract, unverifiedReason } from '@causeway/proto';
import { testLane } from '@causeway/runtime/testing';
import { describe, expect, test } from 'vitest';
import { bootWebhooks } from '../testing/boot.ts';
import { makeSubscription } from '../testing/events.ts';
import { makeDelivery } from '../testing/make.ts';
import { bootPortal } from '../testing/portal.ts';

test('the status of a company shows its queues, their health, the oldest delivery and its error, and no other company', async () => {
  const booted = await bootWebhooks();
  const { db } = booted;
  const subscribe = async (company: number, url: string): Promise<number> =>
    (await booted.ask('createSubscription', company, { body: { url, eventTypes: ['client.created'] } })).body
      .id;
  const quiet = await subscribe(17, 'https://quiet.example.com/hook');
  const late = await subscribe(17, 'https://late.example.com/hooks/secret-path');
  const other = await subscribe(18, 'https://other.example.com');
  const hourAgo = new Date(Date.now() - 3_600_000);
  await makeDelivery(db, { company_id: 17, subscription_id: late });
  await makeDelivery(db, {
    company_id: 17,
    subscription_id: late,
    created_utc: hourAgo,
    due_utc: hourAgo,
    attempts: 3,
    last_status: 503,
    last_error: 'status',
  });
  await makeDelivery(db, { company_id: 18, subscription_id: other }, 5);
  await db
    .updateTable('delivery_queues')
    .set({ consecutive_failures: 3, next_due_utc: hourAgo })
    .where('company_id', '=', 17)
    .where('subscription_id', '=', late)
    .execute();
  await db
    .insertInto('event_outbox')
    .values({ company_id: 17, event_id: 4711, sequence: 1, created_utc: hourAgo, leased_until: hourAgo })
    .execute();

  const ask = testLane(booted.bus, 'operator-webhooks', 'operator');
  const statusOf = async (company_id: number) => {
    const body = Buffer.from(JSON.stringify({ company_id }));
    const answer = await ask({ operation: 'getCompanyStatus', budgetMs: 20_000, body });
    expect(answer.status).toBe(200);
    return contract.getCompanyStatus.answers[200].schema.parse(JSON.parse(answer.body.toString()));
  };
  const status = await statusOf(17);
  expect(status).toMatchObject({
    company_id: 17,
    events: { waiting: 1, oldest_utc: hourAgo.toISOString() },
    total: 2,
    subscriptions: [
      {
        subscription_id: late,
        origin: 'https://late.example.com',
        enabled: true,
        consecutive_failures: 3,
        waiting: 2,
        next_due_utc: hourAgo.toISOString(),
        oldest: { created_utc: hourAgo.toISOString(), attempts: 3, last_status: 503, last_error: 'status' },
      },
      { subscription_id: quiet, waiting: 0, oldest: null },
    ],
  });
  expect(JSON.stringify(status)).not.toContain('secret-path');
  const top = await ask({ operation: 'listDeliveriesByCompany', budgetMs: 20_000, body: Buffer.from('{}') });
  const { companies } = contract.listDeliveriesByCompany.answers[200].schema.parse(
    JSON.parse(top.body.toString()),
  );
  expect(companies.find(({ company_id }) => company_id === 17)).toEqual({
    ...{ company_id: 17, waiting: 2, late_seconds: expect.closeTo(3_600, -2) },
    ...{ attempts_a_minute: 0, missed: 0 },
  });
  expect(await statusOf(19)).toMatchObject({
    events: { waiting: 0, oldest_utc: null },
    total: 0,
    subscriptions: [],
  });
});

describe('What needs attention', async () => {
  const { db, portal } = await bootPortal();
  const company = 7000;
  const nothing = { subscriptions: 0, held: 0, missed: 0 };

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
    const only = await makeSubscription(db, company + 1, off(0));
    await db
      .insertInto('missed_events')
      .values({ company_id: company, subscription_id: last, missed: 3, since_utc: new Date() })
      .execute();
    const { body } = await portal('getAttention', company, { role: 'viewer' });
    expect(body).toEqual({
      ...{ offCount: 2, onlyOffId: null, failingCount: 1, unverifiedCount: 1, undecided: nothing },
    });
    const { body: ofOther } = await portal('getAttention', company + 1, { role: 'viewer' });
    expect(ofOther).toMatchObject({ offCount: 1, onlyOffId: only });
  });

  test('of a company without subscriptions is nothing', async () => {
    const { body } = await portal('getAttention', company + 2, { role: 'viewer' });
    expect(body).toEqual({
      ...{ offCount: 0, onlyOffId: null, failingCount: 0, unverifiedCount: 0, undecided: nothing },
    });
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
    expect(body.undecided).toEqual({ subscriptions: 2, held: 40, missed: 8 });
  });
});
