import { until } from '@causeway/runtime/testing/until';
import { describe, expect, test } from 'vitest';
import { outcome } from '../support/clock.ts';
import { audited, close, expectClosed, expectOpen, open, openScene, type Scene } from '../support/company.ts';
import { hold, kill, killAfter, killDuring } from '../support/kill.ts';
import { openBrowser } from '../support/portal.ts';
import { allReady } from '../support/processes.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld();

describe('Kills', () => {
  test('access before the commit: nothing has ended, and a second call closes', async () => {
    const scene = await openScene(world);
    const closing = 'INSERT INTO closed_companies (company_id, closed_utc) VALUES (?, NOW(3))';
    const first = await killDuring(world, ['access'], [closing, [scene.companyId]], () =>
      close(world, scene),
    );
    expect(first).toBeInstanceOf(Error);
    expect([await scene.read(), await scene.enabled()]).toEqual([200, [scene.on]]);
    await close(world, scene);
    await expectClosed(world, scene);
    expect(await audited(world, scene)).toEqual(['company.closed']);
  });

  test('access and webhooks after the commit, before anybody was told, and the same when it is opened', async () => {
    const scene = await openScene(world);
    const whenTold = (change: () => Promise<unknown>, count: number) =>
      killAfter(
        world,
        ['access', 'webhooks'],
        ['SELECT 1 FROM companies WHERE company_id = ? FOR UPDATE', [scene.companyId]],
        change,
        async () => (await audited(world, scene)).length === count,
      );
    await whenTold(() => close(world, scene), 1);
    await until('the key is refused', async () => (await scene.read()) === 401);
    await expectClosed(world, scene);
    await whenTold(() => open(world, scene), 2);
    await expectOpen(world, scene);
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
  await until('its delivery and the use of its key are recorded', async () => {
    const { deliveries, event_outbox, api_keys = '' } = await read();
    const isUseRecorded = api_keys.includes('"last_used_utc":"');
    return deliveries !== undefined && event_outbox === undefined && isUseRecorded;
  });
  return read();
};

test('30 days after it was closed, no table has a row of it, and of another company every row is as it was', async () => {
  const [scene, other] = [await openScene(world), await openScene(world)];
  const before = await settled(other);
  await close(world, scene);
  await until('its subscriptions are off', async () => (await scene.enabled()).length === 0);
  expect(Object.keys(await rowsOf(scene.companyId)).length).toBeGreaterThan(20);
  await world.sql(
    'UPDATE closed_companies SET closed_utc = closed_utc - INTERVAL 31 DAY WHERE company_id = ?',
    [scene.companyId],
  );
  await world.sql('UPDATE companies SET closed_utc = closed_utc - INTERVAL 31 DAY WHERE company_id = ?', [
    scene.companyId,
  ]);
  expect(String(await outcome(open(world, scene)))).toContain('more than 30 days ago');
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
