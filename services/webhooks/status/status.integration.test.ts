import { contract } from '@causeway/proto';
import { testLane } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { bootWebhooks } from '../testing/boot.ts';
import { makeDelivery } from '../testing/make.ts';

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
    .values({ company_id: 17, event_id: 4711, sequence: 1, created_utc: hourAgo })
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
  expect(await statusOf(19)).toMatchObject({
    events: { waiting: 0, oldest_utc: null },
    total: 0,
    subscriptions: [],
  });
});
