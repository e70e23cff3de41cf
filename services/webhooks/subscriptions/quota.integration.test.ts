import { expect, test } from 'vitest';
import { defaultQuotas } from '../context.ts';
import { bootWebhooks } from '../testing/boot.ts';

const limit = 6;
const { ask } = await bootWebhooks({ services: 2, quotas: { ...defaultQuotas, subscriptions: limit } });
const wanted = { url: 'https://hooks.example.com/a', eventTypes: ['client.created'] };
/** Creates take turns at the company's row: the last of many waits for all others. */
const create = (company: number) => ask('createSubscription', company, { body: wanted, budgetMs: 120_000 });

test('A company gets exactly its quota of subscriptions, however many are created at once', async () => {
  const answers = await Promise.all(Array.from({ length: 3 * limit }, () => create(1)));
  const refused = answers.filter(({ status }) => status !== 201);
  expect(answers.length - refused.length).toBe(limit);
  for (const { status, body } of refused)
    expect([status, body]).toEqual([
      400,
      {
        error: `the company has reached its quota of ${limit} subscriptions; delete one that is not needed`,
        quota: 'subscriptions',
        limit,
      },
    ]);
  expect((await ask('listSubscriptions', 1)).body.count).toBe(limit);
});

test('The quota of one company does not affect another, and deleting makes room', async () => {
  const made = await Promise.all(Array.from({ length: limit }, () => create(2)));
  expect((await create(2)).body.quota).toBe('subscriptions');
  expect((await create(3)).status).toBe(201);
  expect((await ask('deleteSubscription', 2, { params: [made[0]!.body.id] })).status).toBe(204);
  expect((await create(2)).status).toBe(201);
});
