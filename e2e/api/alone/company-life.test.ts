import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanUp, testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { describe, expect, test } from 'vitest';
import { outcome } from '../support/clock.ts';
import { hold, kill, withoutNats } from '../support/kill.ts';
import { goodPassword, openBrowser, openTeam } from '../support/portal.ts';
import { allReady } from '../support/processes.ts';
import { type Json, openWorld } from '../support/world.ts';

const world = await openWorld();

const type = 'lead.created';
const oddName = 'Zoë "\\" \u2028 \u{1f9a6} 株式';

/** A company with members, keys, people, a subscription with deliveries, and a link to one of them. */
const openScene = async () => {
  const { companyId, owner, join } = await openTeam(world);
  const colleague = await join('admin');
  await world.operator.ask('setLimits', { company_id: companyId, read: 100_000, write: 100_000 });
  const makeKey = async () =>
    (await world.operator.ask('createKey', {
      company_id: companyId,
      name: 'test',
      scopes: ['integrations:read', 'integrations:write', 'events:read', 'webhooks:write', 'admin'],
    })) as { readonly id: number; readonly value: string };
  const [key, revoked] = [await makeKey(), await makeKey()];
  await world.operator.ask('revokeKey', { id: revoked.id });
  const receiver = await testReceiver();
  const post = (path: string, body: Json) =>
    world.ask(path, { method: 'POST', key: key.value, body: JSON.stringify(body) });
  const subscribe = async (path: string, enabled = true): Promise<number> =>
    (await post('/webhooks/subscriptions', { url: receiver.url + path, eventTypes: [type], enabled })).json
      .id;
  const on = await subscribe('/on');
  const off = await subscribe('/off', false);
  const lead = (number: number) =>
    post('/integrations/leads', {
      first_name: oddName,
      last_name: `Lead ${number}`,
      email: `lead-${number}-${companyId}@example.com`,
      phone: '+1 555 0100',
      external_id: `lead-${number}`,
    });
  const first = (await lead(1)).json.client_id as number;
  await until('a delivery arrives', () => receiver.received.length > 0);
  await post(`/integrations/clients/${first}/notes`, { text: 'A note' });
  const token = await share(owner, receiver, on);
  const enabled = async () =>
    (
      await world.sql<{ subscription_id: number }>(
        'SELECT subscription_id FROM subscriptions WHERE company_id = ? AND enabled = 1',
        [companyId],
      )
    ).map(({ subscription_id }) => subscription_id);
  const read = async () => (await world.ask('/integrations/lookups/employees', { key: key.value })).status;
  const shared = async () => (await openBrowser(world).ask('POST', '/shared-delivery', { token })).status;
  return { companyId, owner, colleague, key, revoked, receiver, on, off, lead, enabled, read, shared };
};

type Scene = Awaited<ReturnType<typeof openScene>>;

const share = async (
  owner: Awaited<ReturnType<typeof openTeam>>['owner'],
  receiver: Awaited<ReturnType<typeof testReceiver>>,
  subscription: number,
): Promise<string> => {
  const event = receiver.received[0]!.headers['webhook-id'];
  return until('the delivery can be shared', async () => {
    const path = `/deliveries/${event}/${subscription}/0/shares`;
    const { status, json } = await owner.browser.ask('POST', path, { hours: 168 });
    return status === 201 && json.token;
  });
};

const close = ({ companyId }: Scene) => world.operator.ask('closeCompany', { company_id: companyId });
const open = ({ companyId }: Scene) => world.operator.ask('openCompany', { company_id: companyId });

const expectClosed = async (scene: Scene): Promise<void> => {
  await until('its subscriptions are off', async () => (await scene.enabled()).length === 0);
  expect(await scene.read()).toBe(401);
  expect((await scene.colleague.browser.ask('GET', '/session')).status).toBe(401);
  const { status, json } = await openBrowser(world).signIn(scene.colleague);
  expect([status, json.reason]).toEqual([403, 'company_closed']);
  expect(json.error).toContain('closed');
  expect(await scene.shared()).toBe(404);
};

const expectOpen = async (scene: Scene): Promise<void> => {
  await until('its subscription is on', async () => (await scene.enabled()).length === 1);
  expect(await scene.enabled()).toEqual([scene.on]);
  await until('its key is accepted', async () => (await scene.read()) === 200);
  expect((await world.ask('/integrations/lookups/employees', { key: scene.revoked.value })).status).toBe(401);
  expect((await scene.colleague.browser.ask('GET', '/session')).status).toBe(401);
  expect((await openBrowser(world).signIn(scene.colleague)).status).toBe(200);
  expect(await scene.shared()).toBe(200);
};

const audited = async ({ companyId }: Scene) =>
  (
    await world.sql<{ action: string }>(
      `SELECT action FROM audit_log WHERE company_id = ? AND action IN ('company.closed', 'company.opened')
       ORDER BY audit_id`,
      [companyId],
    )
  ).map(({ action }) => action);

test('a closed company has no keys, sessions, subscriptions and links, while its writers write; opened, it has them again', async () => {
  const [scene, other] = [await openScene(), await openScene()];
  let writing = true;
  const statuses = new Set<number>();
  const writer = (async () => {
    for (let number = 10; writing; number++) statuses.add((await scene.lead(number)).status);
  })();
  await until('it writes', () => statuses.size > 0);
  await close(scene);
  expect(await scene.read()).toBe(401);
  await world.operator.ask('closeCompany', { company_id: scene.companyId });
  await until('the writer is refused', () => statuses.has(401));
  writing = false;
  await writer;
  expect([...statuses].filter((status) => ![201, 401].includes(status))).toEqual([]);
  await expectClosed(scene);
  const made = outcome(
    world.operator.ask('createKey', { company_id: scene.companyId, name: 'late', scopes: ['admin'] }),
  );
  expect(String(await made)).toContain('closed');
  // Nothing of the others.
  expect(await other.read()).toBe(200);
  expect(await other.enabled()).toEqual([other.on]);
  expect((await other.colleague.browser.ask('GET', '/session')).status).toBe(200);
  expect(await other.shared()).toBe(200);

  await open(scene);
  await expectOpen(scene);
  expect(await audited(scene)).toEqual(['company.closed', 'company.opened']);
  const before = scene.receiver.received.length;
  expect((await scene.lead(2)).status).toBe(201);
  await until('its events arrive again', () => scene.receiver.received.length > before);
});

test('a key that is revoked while its company is closed stays revoked, and a member of two companies signs in to the other', async () => {
  const [scene, other] = [await openScene(), await openScene()];
  const { email } = scene.owner;
  await world.operator.ask('createPortalOwner', {
    ...{ company_id: other.companyId, email, password: goodPassword },
  });
  await close(scene);
  await world.operator.ask('revokeKey', { id: scene.key.id });
  const signedIn = await openBrowser(world).signIn(scene.owner);
  expect([signedIn.status, signedIn.json.company.id]).toEqual([200, other.companyId]);
  await open(scene);
  await until('its subscription is on', async () => (await scene.enabled()).length === 1);
  expect(await scene.read()).toBe(401);
});

describe('Kills', () => {
  test('access before the commit: nothing has ended, and a second call closes', async () => {
    const scene = await openScene();
    const held = await hold(
      world,
      'INSERT INTO closed_companies (company_id, closed_utc) VALUES (?, NOW(3))',
      [scene.companyId],
    );
    const first = outcome(close(scene));
    await held.awaited();
    const gone = kill(world, 'access');
    await held.release();
    expect(await first).toBeInstanceOf(Error);
    await allReady(world, gone);
    expect([await scene.read(), await scene.enabled()]).toEqual([200, [scene.on]]);
    await close(scene);
    await expectClosed(scene);
    expect(await audited(scene)).toEqual(['company.closed']);
  });

  test('access and webhooks after the commit, before anybody was told, and the same when it is opened', async () => {
    const scene = await openScene();
    const whenTold = async (change: () => Promise<unknown>, count: number) => {
      const held = await hold(world, 'SELECT 1 FROM companies WHERE company_id = ? FOR UPDATE', [
        scene.companyId,
      ]);
      const asked = outcome(change());
      await held.awaited();
      let gone: readonly number[] = [];
      await withoutNats(world, async () => {
        await held.release();
        await until('it is committed', async () => (await audited(scene)).length === count);
        gone = kill(world, 'access', 'webhooks');
      });
      await asked;
      await allReady(world, gone);
    };
    await whenTold(() => close(scene), 1);
    await until('the key is refused', async () => (await scene.read()) === 401);
    await expectClosed(scene);
    await whenTold(() => open(scene), 2);
    await expectOpen(scene);
  });
});

/** Every row of a company, by table. */
const rowsOf = async (companyId: number): Promise<Record<string, string>> => {
  const tables = await world.sql<{ name: string }>(
    `SELECT TABLE_NAME AS name FROM information_schema.columns
     WHERE TABLE_SCHEMA = DATABASE() AND COLUMN_NAME = 'company_id' ORDER BY name`,
  );
  const found: Record<string, string> = {};
  for (const { name } of tables) {
    const rows = await world.sql(`SELECT * FROM ${name} WHERE company_id = ?`, [companyId]);
    if (rows.length > 0) found[name] = JSON.stringify(rows);
  }
  return found;
};

/** The rows of a company that does nothing, but for the counts and mails of what it did, which come late. */
const settled = async ({ companyId }: Scene): Promise<Record<string, string>> => {
  const late = [
    'request_log',
    'request_minutes',
    'delivery_minutes',
    'notices',
    'notice_sends',
    'client_search_pending',
  ];
  const read = async () =>
    Object.fromEntries(Object.entries(await rowsOf(companyId)).filter(([table]) => !late.includes(table)));
  await until('its delivery is recorded', async () => {
    const { deliveries, event_outbox } = await read();
    return deliveries !== undefined && event_outbox === undefined;
  });
  return read();
};

test('30 days after it was closed, no table has a row of it, and of another company every row is as it was', async () => {
  const [scene, other] = [await openScene(), await openScene()];
  const before = await settled(other);
  await close(scene);
  await until('its subscriptions are off', async () => (await scene.enabled()).length === 0);
  expect(Object.keys(await rowsOf(scene.companyId)).length).toBeGreaterThan(20);
  await world.sql(
    'UPDATE closed_companies SET closed_utc = closed_utc - INTERVAL 31 DAY WHERE company_id = ?',
    [scene.companyId],
  );
  await world.sql('UPDATE companies SET closed_utc = closed_utc - INTERVAL 31 DAY WHERE company_id = ?', [
    scene.companyId,
  ]);
  expect(String(await outcome(open(scene)))).toContain('more than 30 days ago');
  // Each service empties its tables when it starts, and is killed in the middle.
  const held = await hold(world, 'SELECT 1 FROM clients WHERE company_id = ? FOR UPDATE', [scene.companyId]);
  await allReady(world, kill(world, 'access', 'crm', 'webhooks'));
  await held.awaited();
  const gone = kill(world, 'access', 'crm', 'webhooks');
  await held.release();
  await allReady(world, gone);
  const dropped = ['deliveries', 'delivery_attempts', 'delivery_minutes', 'events', 'request_log'];
  await until('what retention does not drop is gone', async () =>
    Object.keys(await rowsOf(scene.companyId)).every((name) =>
      [...dropped, 'companies', 'closed_companies'].includes(name),
    ),
  );
  // As retention does.
  for (const table of dropped)
    await world.sql(`DELETE FROM ${table} WHERE company_id = ?`, [scene.companyId]);
  for (let round = 0; round < 2; round++) await allReady(world, kill(world, 'access', 'crm', 'webhooks'));
  await until('nothing is left', async () => Object.keys(await rowsOf(scene.companyId)).length === 0);
  expect(await settled(other)).toEqual(before);
  expect(await scene.read()).toBe(401);
  expect((await openBrowser(world).signIn(scene.colleague)).json.reason).toBe('wrong_credentials');
});

const exporting = (companyId: number, file: string) =>
  spawn(
    process.execPath,
    ['services/access/cli/main.ts', 'company', 'export', '--company', String(companyId), '--out', file],
    { env: { ...process.env, STACK_HOME: world.home }, stdio: 'ignore' },
  );
const ended = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once('exit', resolve));

test('an export has every record, event and setting, whatever its bytes, and no secret; interrupted, there is no file', async () => {
  const [scene, other] = [await openScene(), await openScene()];
  const { companyId, key } = scene;
  const items = Array.from({ length: 230 }, (_, number) => ({
    first_name: oddName,
    last_name: `Batch ${number}`,
    email: `batch-${number}@example.com`,
    phone: '+1 555 0100',
  }));
  for (let from = 0; from < items.length; from += 100)
    await world.ask('/integrations/leads/batch', {
      method: 'POST',
      key: key.value,
      body: JSON.stringify({ mode: 'create', items: items.slice(from, from + 100) }),
    });
  const folder = await mkdtemp(join(tmpdir(), 'causeway-test-export-'));
  cleanUp(() => rm(folder, { recursive: true }));
  const file = join(folder, 'company.ndjson');
  const killed = exporting(companyId, file);
  await until('it writes', () => existsSync(`${file}.part`));
  killed.kill('SIGKILL');
  await ended(killed);
  expect(existsSync(file)).toBe(false);
  // An export asks again, or says that it failed.
  const during = exporting(companyId, file);
  await until('it writes', () => existsSync(`${file}.part`));
  const gone = kill(world, 'crm');
  expect(existsSync(file)).toBe((await ended(during)) === 0);
  await allReady(world, gone);
  expect(await ended(exporting(companyId, file))).toBe(0);

  const text = await readFile(file, 'utf8');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.at(-1)).toEqual({ type: 'end', lines: lines.length - 1 });
  const of = (type: string) => lines.filter((line) => line.type === type);
  const [count] = await world.sql<{ people: number; events: number }>(
    `SELECT (SELECT COUNT(*) FROM clients WHERE company_id = ?) AS people,
     (SELECT COUNT(*) FROM events WHERE company_id = ?) AS events`,
    [companyId, companyId],
  );
  expect(count!.people).toBe(231);
  expect([of('person').length, of('event').length]).toEqual([count!.people, count!.events]);
  expect(new Set(of('person').map(({ client_id }) => client_id)).size).toBe(231);
  expect(of('person').every(({ first_name }) => first_name === oddName)).toBe(true);
  expect(of('note')).toMatchObject([{ text: 'A note' }]);
  expect(of('event')[0].event.companyId).toBe(companyId);
  expect([of('company'), of('member'), of('key'), of('subscription')].map((some) => some.length)).toEqual([
    1, 2, 2, 2,
  ]);
  for (const word of [key.value, 'whsec_', 'password_hash', 'key_hash', other.owner.email])
    expect(text).not.toContain(word);
  const [told] = await world.sql<{ times: number }>(
    "SELECT COUNT(*) AS times FROM audit_log WHERE company_id = ? AND action = 'company.exported'",
    [companyId],
  );
  // The first one may have been killed before it asked.
  expect(told!.times).toBeOneOf([2, 3]);
});
