import { expect, test } from 'vitest';
import { makeSubscription } from '../testing/events.ts';
import { makeDelivery } from '../testing/make.ts';
import { bootPortal } from '../testing/portal.ts';

const webhooks = await bootPortal();

const company = 8100;
const at = new Date('2026-01-15T09:30:00.000Z');

test('incidents are listed page by page, read by key and member, and never those of another company', async () => {
  const [broken, other] = [
    await makeSubscription(webhooks.db, company, { consecutive_failures: 6 }),
    await makeSubscription(webhooks.db, company),
  ];
  const make = (subscriptionId: number, until: Date | null = null) =>
    webhooks.database.query(
      `INSERT INTO incidents (company_id, subscription_id, since_utc, first_status, first_error, broken_utc, until_utc)
       VALUES (?, ?, ?, 503, 'status', ?, ?)`,
      [company, subscriptionId, at, at, until],
    );
  await make(broken, at);
  await make(other, at);
  await make(broken);
  await expect(make(broken)).rejects.toThrow(/Duplicate/);
  await makeDelivery(webhooks.db, { company_id: company, subscription_id: broken, created_utc: at }, 3);
  const told = [
    { channel: 'mail', memberId: 5, utc: at.toISOString() },
    { channel: 'slack', memberId: null, utc: at.toISOString() },
  ];
  await webhooks.database.query(
    `INSERT INTO notices (company_id, kind, cause, subject_name, detail, created_utc)
     VALUES (?, 'subscription_failing', ?, 'Billing', ?, ?)`,
    [
      company,
      `subscription_failing:${broken}:${at.toISOString()}`,
      JSON.stringify({ told: [...told, told[0]] }),
      at,
    ],
  );
  const list = async (query: Readonly<Record<string, string>> = {}, asker = company) =>
    (await webhooks.ask('listIncidents', asker, { query })).body;
  const all = await list();
  expect(all.incidents.map((one: { subscriptionId: number }) => one.subscriptionId)).toEqual([
    broken,
    other,
    broken,
  ]);
  expect(all).toMatchObject({ hasMore: false, nextCursor: null });
  const [open, ended] = all.incidents;
  expect(open).toMatchObject({
    ...{ sinceUtc: at.toISOString(), untilUtc: null, firstStatusCode: 503, firstErrorClass: 'status' },
    ...{ recoveredUtc: null, lastSuccessUtc: null, told },
    undelivered: { count: 3, isMore: false, oldestUtc: at.toISOString() },
  });
  expect(open.nextAttemptUtc).not.toBeNull();
  expect(ended).toMatchObject({ untilUtc: at.toISOString(), undelivered: { count: 0, oldestUtc: null } });
  expect((await list({ state: 'open' })).incidents).toEqual([open]);
  expect((await list({ subscriptionId: String(other) })).incidents).toEqual([ended]);
  const first = await list({ limit: '2' });
  expect(first).toMatchObject({ hasMore: true, incidents: [open, ended] });
  const second = await list({ limit: '2', cursor: first.nextCursor });
  expect(second).toMatchObject({ hasMore: false, incidents: [all.incidents[2]] });
  expect(
    (await webhooks.ask('listIncidents', company + 1, { query: { cursor: first.nextCursor } })).status,
  ).toBe(400);
  expect((await list({}, company + 1)).incidents).toEqual([]);
  expect((await webhooks.ask('getIncident', company, { params: [open.id] })).body).toEqual(open);
  expect((await webhooks.ask('getIncident', company + 1, { params: [open.id] })).status).toBe(404);
  const members = await webhooks.portal('listPortalIncidents', company, { query: {}, role: 'viewer' });
  expect(members.body).toEqual(all);
});
