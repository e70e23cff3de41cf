import { rowsOf, testLane } from '@causeway/runtime/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeSubscription } from '../testing/events.ts';
import { makeAttempt, makeDelivery, makeEvents } from '../testing/make.ts';
import { bootPortal } from '../testing/portal.ts';

let company = 7900;
let now = new Date();
let params: readonly number[];
const webhooks = await bootPortal({ now: () => now });
const send = testLane(webhooks.bus, 'webhooks');
beforeEach(async () => {
  company++;
  now = new Date();
  params = await makeOne();
});

const response = '<script>alert(document.cookie)</script> ann@example.com';

const makeOne = async () => {
  const url = 'https://hooks.example.com/catch/T0ken9876';
  const subscription_id = await makeSubscription(webhooks.db, company, { name: 'Internal name', url });
  const payload = { client_id: 7, first_name: 'Ann', email: 'ann@example.com', status: 'Lead - New' };
  const [event] = await makeEvents(webhooks.db, company, [{ payload }]);
  const { event_id, created_utc } = event!;
  const key = { company_id: company, event_id, subscription_id, replay_id: 0, created_utc };
  await makeDelivery(webhooks.db, { ...key, state: 'failed', attempts: 1, due_utc: null });
  await makeAttempt(webhooks.db, {
    ...{ ...key, url, status_code: 500, error: 'the receiver answered 500' },
    response: { headers: [['Set-Cookie', 'id=1']], body: Buffer.from(response) },
  });
  return [event_id, subscription_id, 0];
};

const share = (hours = 24, role: 'viewer' | 'developer' = 'developer') =>
  webhooks.portal('shareDelivery', company, { params, body: { hours }, role });
const list = async (asker = company) => (await webhooks.portal('listDeliveryShares', asker)).body.shares;

/** As the gateway sends the call of somebody without a session. */
const open = async (body: object) => {
  const actor = { user: null, address: '203.0.113.8', userAgent: 'a browser' };
  const bytes = Buffer.from(JSON.stringify(body));
  const call = { operation: 'getSharedDelivery', tenant: 0, caller: 0, params: [], query: '', body: bytes };
  const answer = await send({ ...call, actor });
  const text = answer.body.toString();
  return { status: answer.status, text, body: JSON.parse(text) };
};

describe('A link to a delivery', () => {
  test('shows a stranger the delivery as viewers see it, and nothing else', async () => {
    const { status, body } = await share();
    expect(status).toBe(201);
    const { status: opened, text, body: shown } = await open({ token: body.token });
    expect(opened).toBe(200);
    expect(shown.delivery).toMatchObject({ eventId: params[0], state: 'failed', history: [{ attempt: 1 }] });
    expect(shown.attempt).toMatchObject({ statusCode: 500, masked: true });
    expect(shown.attempt.request.headers).toContainEqual([
      'X-Webhook-Signature',
      `sha256=${'5f'.repeat(32)}`,
    ]);
    expect(shown.attempt.request.body).toContain('Lead - New');
    for (const hidden of ['Ann', 'ann@', 'T0ken9876', 'id=1', 'Internal name', 'developer', '<script'])
      expect(text, hidden).not.toContain(hidden);
    expect(await list()).toMatchObject([
      { opened: 1, deliveryId: params.join('-'), createdBy: 'The developer' },
    ]);
  });

  test('is refused for every other token, in the same words', async () => {
    const { body } = await share();
    const [id, number, secret] = String(body.token).split('-') as [string, string, string];
    const wrong = [
      ...['', 'x', `${id}-${number}`, `${id}-${number}-${'A'.repeat(43)}`, `${id}-1-${secret}`],
      ...[`${company + 1}-${number}-${secret}`, `${id}-${number}-${secret}A`, `0-0-${secret}`],
    ];
    for (const token of wrong)
      expect(await open({ token }), token).toMatchObject({ status: 404, body: { error: 'link not found' } });
    expect((await open({ token: body.token, attempt: 9 })).status).toBe(404);
    expect((await open({ token: body.token })).status).toBe(200);
  });

  test('is stored as a hash', async () => {
    const { body } = await share();
    const secret = String(body.token).split('-').slice(2).join('-');
    const rows = await rowsOf(webhooks.db, 'delivery_shares', company);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(rows[0]!.secret_hash.toString('latin1')).not.toContain(secret);
    const audit = await webhooks.database.query('SELECT * FROM audit_log WHERE company_id = ?', [company]);
    expect(JSON.stringify(audit)).toContain('delivery.shared');
    expect(JSON.stringify(audit)).not.toContain(secret);
  });

  test('ends when its time is over, when it is revoked, and with its delivery', async () => {
    const { token } = (await share(1)).body;
    now = new Date(now.getTime() + 3_599_000);
    expect((await open({ token })).status).toBe(200);
    now = new Date(now.getTime() + 1_000);
    expect((await open({ token })).status).toBe(404);
    expect(await list()).toEqual([]);

    const second = (await share()).body;
    const revoke = (asker: number) =>
      webhooks.portal('revokeDeliveryShare', asker, { params: [second.id] }).then(({ status }) => status);
    expect(await revoke(company + 1)).toBe(404);
    expect((await open({ token: second.token })).status).toBe(200);
    expect(await revoke(company)).toBe(204);
    expect((await open({ token: second.token })).status).toBe(404);
    expect(await revoke(company)).toBe(404);

    const third = (await share()).body;
    await webhooks.db.deleteFrom('deliveries').where('company_id', '=', company).execute();
    expect((await open({ token: third.token })).status).toBe(404);
  });

  test('is made by developers, for deliveries of their own company, up to a number', async () => {
    expect((await share(24, 'viewer')).status).toBe(403);
    expect((await share(0)).status).toBe(400);
    expect((await share(169)).status).toBe(400);
    const elsewhere = { params, body: { hours: 1 } };
    expect((await webhooks.portal('shareDelivery', company + 1, elsewhere)).status).toBe(404);
    const atOnce = (length: number) => Promise.all(Array.from({ length }, () => share()));
    const statusesOf = (made: readonly { status: number }[]) => made.map(({ status }) => status).toSorted();
    // A company's links are made one after the other: more at once would wait for longer than a call may take.
    for (let made = 0; made < 190; made += 10)
      expect(statusesOf(await atOnce(10))).toEqual(Array.from({ length: 10 }, () => 201));
    expect(statusesOf(await atOnce(15))).toEqual([...Array(10).fill(201), ...Array(5).fill(409)]);
    expect(await list(company + 1)).toEqual([]);
  });
});
