import { expect, test } from 'vitest';
import { makeSubscription } from '../testing/events.ts';
import { bootPortal } from '../testing/portal.ts';

test('a replay of too many deliveries is refused', async () => {
  const webhooks = await bootPortal();
  const company = 6001;
  const subscriptionId = await makeSubscription(webhooks.db, company);
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
  await webhooks.database.query('SET SESSION cte_max_recursion_depth = 200000');
  await webhooks.database.query(
    `INSERT INTO deliveries (company_id, event_id, subscription_id, created_utc, event_type, state, updated_utc)
     WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 100001)
     SELECT ?, 1000000 + i, ?, ?, 'client.created', 'failed', ? FROM n`,
    [company, subscriptionId, minutesAgo(30), minutesAgo(30)],
  );
  const asked = { body: { subscriptionId, kind: 'failed', since: minutesAgo(60) } };
  const { status, body } = await webhooks.portal('previewReplay', company, asked);
  expect({ status, error: body.error }).toMatchObject({
    status: 400,
    error: expect.stringMatching(/^a replay makes at most 100000 deliveries/),
  });
});
