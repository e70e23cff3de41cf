import { describe, expect, test } from 'vitest';
import { bootWebhooks } from '../testing/boot.ts';
import { makeDelivery, makeEvents } from '../testing/make.ts';
import { endWithKeys, removeExpired } from './ends.ts';

const { ask, db, context, database } = await bootWebhooks({ services: 2 });
let lastCompany = 4000;
const newCompany = (): number => ++lastCompany;

const wanted = {
  url: 'https://hooks.example.com/flow',
  eventTypes: ['client.created', 'lead.created'],
  managedBy: 'n8n',
};
const save = (company: number, more: object = {}, keyId = 1) =>
  ask('createSubscription', company, { body: { ...wanted, ...more }, keyId });
const switchTo = (company: number, id: number, enabled: boolean) =>
  ask('updatePortalSubscription', company, { params: [id], body: { enabled }, role: 'developer' });
const list = async (company: number) => (await ask('listSubscriptions', company)).body.subscriptions;
const portal = async (company: number, id: number) =>
  (await ask('getPortalSubscription', company, { params: [id], role: 'viewer' })).body;
const rowOf = async (company: number, id: number) =>
  (
    await database.query('SELECT * FROM subscriptions WHERE company_id = ? AND subscription_id = ?', [
      company,
      id,
    ])
  )[0];
const set = (company: number, id: number, columns: object) =>
  database.query('UPDATE subscriptions SET ? WHERE company_id = ? AND subscription_id = ?', [
    columns,
    company,
    id,
  ]);
const audit = (company: number) =>
  database.query(
    'SELECT action, actor_kind, after_json FROM audit_log WHERE company_id = ? ORDER BY audit_id',
    [company],
  );
const versionOf = async (company: number) =>
  (
    await database.query('SELECT subscriptions_version AS v FROM event_sequences WHERE company_id = ?', [
      company,
    ])
  )[0]?.v;

describe('A tool that saves its workflow', () => {
  test('twice has one subscription, and is told its secret again', async () => {
    const company = newCompany();
    const first = await save(company, { name: 'New leads' });
    expect(first.status).toBe(201);
    const version = await versionOf(company);
    const again = await save(company, { eventTypes: wanted.eventTypes.toReversed(), name: 'Other name' });
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect(await list(company)).toHaveLength(1);
    // Nothing was changed, so nothing is noted.
    expect(await versionOf(company)).toBe(version);
    expect(await audit(company)).toMatchObject([{ action: 'subscription.created' }]);
  });

  test('from many processes at once has one subscription', async () => {
    const company = newCompany();
    const answers = await Promise.all(Array.from({ length: 12 }, () => save(company)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(11).fill(200), 201]);
    expect(new Set(answers.map(({ body }) => `${body.id} ${body.signingSecret}`)).size).toBe(1);
    expect(await list(company)).toHaveLength(1);
  });

  test.each([
    ['another URL', { url: `${wanted.url}/2` }],
    ['fewer types', { eventTypes: ['client.created'] }],
    ['more types', { eventTypes: [...wanted.eventTypes, 'payment.failed'] }],
    ['another tool', { managedBy: 'zapier' }],
    ['another spelling of the tool', { managedBy: 'N8N' }],
    ['no tool', { managedBy: null }],
  ])('with %s has two', async (_, more) => {
    const company = newCompany();
    await save(company);
    expect((await save(company, more)).status).toBe(201);
    expect(await list(company)).toHaveLength(2);
  });

  test('with another key takes it over with a new secret, and does not learn the old one', async () => {
    const company = newCompany();
    const first = await save(company);
    const other = await save(company, {}, 2);
    expect(other).toMatchObject({ status: 200, body: { id: first.body.id } });
    expect(other.body.signingSecret).toMatch(/^whsec_/);
    expect(other.body.signingSecret).not.toBe(first.body.signingSecret);
    expect((await save(company, {}, 2)).body.signingSecret).toBe(other.body.signingSecret);
    expect(await rowOf(company, first.body.id)).toMatchObject({ key_id: 2, previous_secret: null });
    expect(await audit(company)).toMatchObject([
      { action: 'subscription.created' },
      { action: 'subscription.secret_rotated', actor_kind: 'key' },
    ]);
  });

  test('in another company gets a subscription of its own', async () => {
    const [one, other] = [newCompany(), newCompany()];
    const first = await save(one);
    const second = await save(other);
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
  });

  test('at the quota of subscriptions still has the one that it has', async () => {
    const company = newCompany();
    const { body } = await save(company);
    await database.query(
      `INSERT INTO subscriptions (company_id, url, event_types, secret, created_utc, updated_utc)
       SELECT s.company_id, s.url, s.event_types, s.secret, s.created_utc, s.updated_utc
       FROM subscriptions AS s JOIN JSON_TABLE(?, '$[*]' COLUMNS (n INT PATH '$')) AS k WHERE s.company_id = ?`,
      [JSON.stringify(Array.from({ length: 999 }, (_, at) => at)), company],
    );
    expect((await save(company)).body.id).toBe(body.id);
    expect((await save(company, { url: `${wanted.url}/2` })).body).toMatchObject({ quota: 'subscriptions' });
  });

  test('after Causeway switched it off has it enabled, and what it missed is counted', async () => {
    const company = newCompany();
    const { id } = (await save(company)).body;
    await set(company, id, {
      enabled: 0,
      disabled_reason: 'the receiver answered 410 Gone',
      disabled_utc: new Date(Date.now() - 1_000),
      auto_disabled: 1,
      expires_utc: new Date(Date.now() + 1_000_000),
    });
    await makeEvents(db, company, [{ type: 'lead.created' }]);
    expect(await save(company)).toMatchObject({
      status: 200,
      body: { id, enabled: true, disabledReason: null },
    });
    expect(await portal(company, id)).toMatchObject({ expiresUtc: null, missed: { count: 1 } });
    expect((await audit(company)).at(-1)).toMatchObject({
      action: 'subscription.enabled',
      actor_kind: 'key',
    });
  });

  test('that a member has switched off leaves it off', async () => {
    const company = newCompany();
    const { id } = (await save(company)).body;
    await switchTo(company, id, false);
    expect(await save(company)).toMatchObject({
      status: 200,
      body: { id, enabled: false, disabledReason: 'disabled through the portal' },
    });
  });
});

describe('When a key is revoked', () => {
  const revoke = (company: number, keyId: number, at = new Date()) =>
    database.query('INSERT INTO key_revocations VALUES (?, ?, ?)', [company, keyId, at]);

  test('the subscriptions of its tools are switched off, and removed after 30 days', async () => {
    const company = newCompany();
    const own = (await ask('createSubscription', company, { body: { ...wanted, managedBy: null } })).body;
    const tool = (await save(company)).body;
    const other = (await save(company, { url: `${wanted.url}/2` }, 2)).body;
    await makeDelivery(db, { company_id: company, subscription_id: tool.id }, 2);
    await revoke(company, 1);
    await expect
      .poll(() => portal(company, tool.id))
      .toMatchObject({
        enabled: false,
        autoDisabled: true,
        disabledReason: 'the API key of its tool was revoked',
      });
    const { disabledUtc, expiresUtc } = await portal(company, tool.id);
    expect(Date.parse(expiresUtc) - Date.parse(disabledUtc)).toBe(30 * 86_400_000);
    expect((await portal(company, own.id)).enabled).toBe(true);
    expect((await portal(company, other.id)).enabled).toBe(true);
    await expect.poll(async () => (await portal(company, tool.id)).health.held).toBe(2);
    expect((await audit(company)).at(-1)).toMatchObject({
      action: 'subscription.disabled',
      actor_kind: 'system',
      after_json: JSON.stringify({ enabled: false, reason: 'the API key of its tool was revoked' }),
    });
  });

  test('a subscription that a request of the key was still creating is switched off too', async () => {
    const company = newCompany();
    await revoke(company, 1);
    await endWithKeys(context);
    const { id } = (await save(company)).body;
    // The service may have switched it off first.
    await endWithKeys(context);
    expect((await rowOf(company, id))!.enabled).toBe(0);
  });

  test('the row of the revocation goes when no request can be under way', async () => {
    const company = newCompany();
    await revoke(company, 1, new Date(Date.now() - 11 * 60_000));
    await revoke(company, 2);
    await endWithKeys(context);
    expect(
      await database.query('SELECT key_id FROM key_revocations WHERE company_id = ?', [company]),
    ).toEqual([{ key_id: 2 }]);
  });

  test('a member who enables the subscription keeps it', async () => {
    const company = newCompany();
    const { id } = (await save(company)).body;
    await revoke(company, 1);
    await endWithKeys(context);
    const enabled = await switchTo(company, id, true);
    expect(enabled.body).toMatchObject({ enabled: true, expiresUtc: null });
    expect(await endWithKeys(context)).toBe(0);
    expect((await portal(company, id)).enabled).toBe(true);
  });

  test('an echo that comes later does not enable it', async () => {
    const company = newCompany();
    const { id } = (await save(company)).body;
    await set(company, id, { enabled: 0, verification: 'pending' });
    await revoke(company, 1);
    await endWithKeys(context);
    expect(await rowOf(company, id)).toMatchObject({ enabled: 0, verification: 'required' });
  });
});

test('An expired subscription is removed with its deliveries, once, and the audit log says why', async () => {
  const company = newCompany();
  const { id } = (await save(company)).body;
  const other = (await save(company, { url: `${wanted.url}/2` })).body;
  await makeDelivery(db, { company_id: company, subscription_id: id }, 2);
  await set(company, other.id, { expires_utc: new Date(Date.now() + 60_000) });
  await set(company, id, {
    enabled: 0,
    disabled_reason: 'the receiver answered 410 Gone',
    expires_utc: new Date(),
  });
  await Promise.all([removeExpired(context), removeExpired(context), removeExpired(context)]);
  expect((await list(company)).map((one: { id: number }) => one.id)).toEqual([other.id]);
  const due = async () =>
    (await database.query('SELECT next_due_utc FROM delivery_queues WHERE subscription_id = ?', [id]))[0]
      ?.next_due_utc;
  // A dispatcher that takes the queue drops the deliveries.
  await expect.poll(due).toBeInstanceOf(Date);
  expect((await audit(company)).filter(({ action }) => action === 'subscription.deleted')).toMatchObject([
    {
      actor_kind: 'system',
      after_json: JSON.stringify({ reason: 'no tool for 30 days: the receiver answered 410 Gone' }),
    },
  ]);
});

test('subscriptions that cannot be removed hold up no other, however many they are', async () => {
  const [one, two] = [newCompany(), newCompany()];
  const expired = await Promise.all([one, two].map(async (company) => (await save(company)).body.id));
  const columns = await database.query('SELECT * FROM subscriptions WHERE subscription_id = ?', [expired[0]]);
  const { company_id, subscription_id, ...shared } = columns[0] as Record<string, unknown>;
  const names = Object.keys(shared);
  for (let id = 900_000; id < 900_120; id++)
    await database.query(
      `INSERT INTO subscriptions (company_id, subscription_id, ${names.join()})
       SELECT ?, ?, ${names.join()} FROM subscriptions WHERE company_id = ? AND subscription_id = ?`,
      [one, id, company_id, subscription_id],
    );
  await database.query('UPDATE subscriptions SET expires_utc = ? WHERE company_id = ?', [new Date(0), one]);
  await set(two, expired[1], { expires_utc: new Date() });
  const trigger = `\`${database.name}\`.keep_one`;
  await database.query(
    `CREATE TRIGGER ${trigger} BEFORE DELETE ON \`${database.name}\`.subscriptions FOR EACH ROW
     IF OLD.company_id = ${one} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'kept'; END IF`,
  );
  await expect(removeExpired(context)).rejects.toThrow('kept');
  expect([(await list(one)).length, (await list(two)).length]).toEqual([121, 0]);
  await database.query(`DROP TRIGGER ${trigger}`);
});
