import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { describe, expect, test } from 'vitest';
import { outcome } from '../support/clock.ts';
import { hold, kill, killAfter, killDuring } from '../support/kill.ts';
import { openLeaver } from '../support/leaver.ts';
import { allReady, metric, processesOf } from '../support/processes.ts';
import { type Json, openWorld } from '../support/world.ts';

// A key ends in `access`, and then its subscriptions in `webhooks`. Either is killed between the steps of the other and its own:
// nothing of the key stays alive, nothing else is switched off, and each change is told once.

const world = await openWorld();

const type = 'lead.created';

/** Two keys with a tool's subscription each; the first one has two. One subscription is of no tool. */
const openScene = async () => {
  const company = await world.company({ read: 100_000, write: 100_000, admin: 100_000 });
  const [ending, staying] = [await company.key(), await company.key()];
  const receiver = await testReceiver();
  const ask = async (key: string, path: string, body: Json): Promise<Json> =>
    (await world.ask(path, { method: 'POST', key, body })).json;
  const subscribe = async (key: string, path: string, managedBy?: string) =>
    (await ask(key, '/webhooks/subscriptions', { url: receiver.url + path, eventTypes: [type], managedBy }))
      .id;
  await subscribe(ending.value, '/ending', 'n8n');
  await subscribe(staying.value, '/staying', 'n8n');
  await subscribe(ending.value, '/free');
  await subscribe(ending.value, '/second', 'Zapier');
  const happen = () => ask(staying.value, '/events/test', { type });
  /** The paths to which an event went. */
  const arrived = (id: number): readonly string[] => {
    const own = receiver.received.filter(({ headers }) => headers['webhook-id'] === String(id));
    return [...new Set(own.map(({ path }) => path))].sort();
  };
  return { companyId: company.id, ending, staying, happen, arrived };
};

type Scene = Awaited<ReturnType<typeof openScene>>;

/** In the middle of the transaction of `access`. */
const revocationLock = ({ companyId, ending }: Scene) =>
  ['INSERT INTO key_revocations VALUES (?, ?, NOW(3))', [companyId, ending.id]] as const;
/** In the last statement of the transaction of `webhooks`. */
const versionLock = ({ companyId }: Scene) =>
  ['SELECT 1 FROM event_sequences WHERE company_id = ? FOR UPDATE', [companyId]] as const;

const isActive = async ({ ending }: Scene): Promise<boolean> =>
  (await world.sql<{ is_active: number }>('SELECT is_active FROM api_keys WHERE id = ?', [ending.id]))[0]!
    .is_active === 1;

const enabledPaths = async ({ companyId }: Scene): Promise<readonly string[]> => {
  const rows = await world.sql<{ url: string }>(
    'SELECT url FROM subscriptions WHERE company_id = ? AND enabled = 1',
    [companyId],
  );
  return rows.map(({ url }) => new URL(url).pathname).sort();
};

const statusOf = async (key: string): Promise<number> =>
  (await world.ask('/integrations/lookups/employees', { key })).status;

const expectEnded = async (scene: Scene, actor: string): Promise<void> => {
  const { companyId, ending, staying, happen, arrived } = scene;
  await until('the key is refused', async () => (await statusOf(ending.value)) === 401);
  await until('its subscriptions are off', async () => (await enabledPaths(scene)).length === 2);
  expect(await enabledPaths(scene)).toEqual(['/free', '/staying']);
  expect(await statusOf(staying.value)).toBe(200);
  const { id } = await happen();
  await until('the others get an event', () => arrived(id).length >= 2);
  const { id: next } = await happen();
  await until('and the next one', () => arrived(next).length >= 2);
  expect([arrived(id), arrived(next)]).toEqual(Array(2).fill(['/free', '/staying']));
  const told = await world.sql<{ action: string; actor_kind: string; times: number }>(
    `SELECT action, actor_kind, COUNT(*) AS times FROM audit_log WHERE company_id = ?
     AND action IN ('key.revoked', 'subscription.disabled', 'subscription.deleted') GROUP BY action, actor_kind ORDER BY action`,
    [companyId],
  );
  expect(told.map((row) => ({ ...row }))).toEqual([
    { action: 'key.revoked', actor_kind: actor, times: 1 },
    { action: 'subscription.disabled', actor_kind: 'system', times: 2 },
  ]);
  const notices = await world.sql<{ kind: string }>('SELECT kind FROM notices WHERE company_id = ?', [
    companyId,
  ]);
  expect(notices.map(({ kind }) => kind)).toEqual(Array(2).fill('subscription_disabled'));
};

const revoke = ({ ending }: Scene) => world.operator.ask('revokeKey', { id: ending.id });

test('access is killed before the revocation is committed: nothing has ended, and a second call ends all', async () => {
  const scene = await openScene();
  const first = await killDuring(world, ['access'], revocationLock(scene), () => revoke(scene));
  expect(first).toBeInstanceOf(Error);
  expect(await isActive(scene)).toBe(true);
  expect(await statusOf(scene.ending.value)).toBe(200);
  expect(await enabledPaths(scene)).toEqual(['/ending', '/free', '/second', '/staying']);
  await revoke(scene);
  await expectEnded(scene, 'operator');
});

test('access and webhooks are killed after the commit, before anybody was told', async () => {
  const scene = await openScene();
  await killAfter(
    world,
    ['access', 'webhooks'],
    revocationLock(scene),
    () => revoke(scene),
    async () => !(await isActive(scene)),
  );
  await expectEnded(scene, 'operator');
});

test('webhooks and access are killed while webhooks switches subscriptions off', async () => {
  const scene = await openScene();
  await killDuring(world, ['webhooks', 'access'], versionLock(scene), () => revoke(scene));
  await expectEnded(scene, 'operator');
});

test('webhooks is killed when it has switched them off, before dispatchers were told', async () => {
  const scene = await openScene();
  await killAfter(
    world,
    ['webhooks'],
    versionLock(scene),
    () => revoke(scene),
    async () => (await enabledPaths(scene)).length === 2,
  );
  await expectEnded(scene, 'operator');
});

test('access is killed in the middle of the revocation of a key that has expired', async () => {
  const scene = await openScene();
  const expire = 'UPDATE api_keys SET expires_utc = UTC_TIMESTAMP(3) WHERE id = ?';
  await killDuring(world, ['access', 'webhooks'], revocationLock(scene), () =>
    world.sql(expire, [scene.ending.id]),
  );
  await expectEnded(scene, 'system');
});

describe('The removal of a member', () => {
  // A member is removed in `access`, and what they made ends in `webhooks`. Either is killed in the middle.

  const expectEnded = async (scene: Awaited<ReturnType<typeof openLeaver>>) => {
    const { ids, links } = scene;
    await until('their subscriptions are off', async () => (await scene.enabled()).length === 1);
    expect(await scene.enabled()).toEqual([ids.renamed]);
    expect([await scene.open(links.leavers), await scene.open(links.owners)]).toEqual([404, 200]);
    expect(await scene.channels()).toEqual(['webhook']);
    const counts = await Promise.all(
      ['member.removed', 'subscription.disabled', 'notices.channel_removed', 'delivery.share_revoked'].map(
        async (action) => (await scene.audited(action)).length,
      ),
    );
    expect(counts).toEqual([1, 3, 1, 1]);
  };

  test('access is killed before the commit: nothing has ended, and a second removal ends all', async () => {
    const scene = await openLeaver(world);
    const { owner, leaver } = scene;
    const ending = 'INSERT INTO member_endings VALUES (?, ?, NOW(3), NOW(3), NULL, "{}", NULL)';
    await killDuring(world, ['access'], [ending, [scene.companyId, leaver.id]], () =>
      owner.browser.ask('DELETE', `/team/members/${leaver.id}`),
    );
    expect(await scene.enabled()).toHaveLength(4);
    expect(await scene.open(scene.links.leavers)).toBe(200);
    await scene.as('DELETE', `/team/members/${leaver.id}`);
    await expectEnded(scene);
  });

  test('webhooks and access are killed while webhooks ends what they made: the link is dead from the commit, the rest ends once', async () => {
    const scene = await openLeaver(world);
    const { owner, leaver } = scene;
    const held = await hold(world, 'SELECT 1 FROM notice_channels WHERE company_id = ? FOR UPDATE', [
      scene.companyId,
    ]);
    const first = outcome(owner.browser.ask('DELETE', `/team/members/${leaver.id}`));
    await held.awaited();
    expect(await scene.open(scene.links.leavers)).toBe(404);
    const gone = kill(world, 'webhooks', 'access');
    await held.release();
    await first;
    await allReady(world, gone);
    await expectEnded(scene);
  });
});

describe('A call of an agent', () => {
  test('agents is killed in the middle of a call: the caller is told, and the next calls are served', async () => {
    const { value: key } = await (await world.company()).key();
    const call = (name: string, given: object = {}) =>
      world.ask('//mcp', {
        method: 'POST',
        key,
        body: {
          ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
          params: { name, arguments: given },
        },
      });
    await expect.poll(async () => (await call('changes_list')).status).toBe(200);
    const { result } = (await call('changes_list')).json;
    const { nextCursor: cursor } = result.structuredContent;
    for (let round = 0; round < 2; round++) {
      const under = call('changes_list', { cursor, wait: 20 });
      const waits = async () => {
        const [agents] = processesOf(world, 'agents');
        return agents?.metricsUrl ? (await metric(agents, 'agents_waiting_for_interface')) === 1 : false;
      };
      await expect.poll(waits).toBe(true);
      kill(world, 'agents');
      // It may have been done.
      expect(await under).toMatchObject({ status: 504, json: { reason: 'timeout' } });
      const statuses: number[] = [];
      const next = async () => {
        statuses.push((await call('lookups_employees')).status);
        return statuses.at(-1);
      };
      await expect.poll(next).toBe(200);
      // Nothing was done while nobody listens; unknown on a connection that was open before.
      expect(statuses.filter((status) => ![200, 503, 504].includes(status))).toEqual([]);
    }
  });
});
