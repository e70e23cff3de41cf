import { until } from '@causeway/runtime/testing/until';
import { expect, test } from 'vitest';
import { openLeaver } from './support/leaver.ts';
import { openWorld } from './support/world.ts';

const world = await openWorld();

test('The removal of a member names what they made or moved, and ends what is not kept', async () => {
  const scene = await openLeaver(world);
  const { as, leaver, owner, ids, links, enabled, audited } = scene;
  const work = await as('GET', `/team/members/${leaver.id}/work`);
  const named = work.subscriptions.map(({ id }: { id: number }) => id);
  expect(named.toSorted()).toEqual([ids.made, ids.moved, ids.byKey].toSorted());
  expect(work.links).toBe(1);
  expect(work.channels).toEqual([{ channel: 'slack', url: expect.stringContaining('…') }]);
  expect((await leaver.browser.ask('GET', `/team/members/${owner.id}/work`)).json.links).toBe(1);

  // What they made just before the clock went back ends as well.
  for (const table of ['delivery_shares', 'audit_log'])
    await world.sql(`UPDATE ${table} SET created_utc = created_utc + INTERVAL 1 HOUR WHERE company_id = ?`, [
      scene.companyId,
    ]);
  await as('DELETE', `/team/members/${leaver.id}?keepSubscriptions=${ids.moved}`);
  expect([await scene.open(links.leavers), await scene.open(links.owners)]).toEqual([404, 200]);
  expect((await enabled()).toSorted()).toEqual([ids.moved, ids.renamed].toSorted());
  expect(await scene.channels()).toEqual(['webhook']);
  for (const [action, targets] of [
    ['subscription.disabled', [ids.made, ids.byKey]],
    ['notices.channel_removed', [scene.companyId]],
    ['delivery.share_revoked', [expect.anything()]],
    ['key.revoked', [scene.key.id]],
  ] as const) {
    const entries = await audited(action);
    expect(entries.map(({ target }) => Number(target.id) || target.id).toSorted()).toEqual(
      targets.toSorted(),
    );
    expect(new Set(entries.map(({ actor }) => actor.id))).toEqual(new Set([owner.id]));
  }
  const id = await scene.event();
  await until('the others get it', () => scene.arrived(id).length === 2);
  expect(scene.arrived(id)).toEqual(['/moved', '/others']);

  // Who enables one again is not undone by the passes that look for late requests.
  await as('POST', `/subscriptions/${ids.made}/enable`);
  const dueUtc = async () =>
    (
      await world.sql<{ due_utc: Date }>('SELECT due_utc FROM member_endings WHERE company_id = ?', [
        scene.companyId,
      ])
    )[0]!.due_utc.getTime();
  const before = await dueUtc();
  // The time of the next pass is of a clock that went back since.
  const ahead = [scene.companyId];
  await world.sql(
    'UPDATE member_endings SET due_utc = due_utc + INTERVAL 1 HOUR WHERE company_id = ?',
    ahead,
  );
  await until('another pass', async () => (await dueUtc()) < before + 1_800_000);
  expect(await enabled()).toContain(ids.made);
});

test('A lower role ends what it may not make: an admin’s channels, and a developer’s links and subscriptions', async () => {
  const scene = await openLeaver(world);
  const { as, leaver, ids, links } = scene;
  const all = [ids.made, ids.moved, ids.byKey, ids.renamed].toSorted();
  await as('PATCH', `/team/members/${leaver.id}`, { role: 'developer', keepKeys: [scene.key.id] });
  expect(await scene.channels()).toEqual(['webhook']);
  expect((await scene.enabled()).toSorted()).toEqual(all);
  expect(await scene.open(links.leavers)).toBe(200);
  await as('PATCH', `/team/members/${leaver.id}`, { role: 'viewer', keepSubscriptions: [ids.byKey] });
  expect((await scene.enabled()).toSorted()).toEqual([ids.byKey, ids.renamed].toSorted());
  expect(await scene.open(links.leavers)).toBe(404);
});

test('An operator removes a member alike', async () => {
  const scene = await openLeaver(world);
  const { leaver, ids, links } = scene;
  await world.operator.ask('removePortalMember', {
    ...{ company_id: scene.companyId, email: leaver.email, keep_channels: ['slack'] },
  });
  expect(await scene.enabled()).toEqual([ids.renamed]);
  expect(await scene.channels()).toEqual(['webhook', 'slack']);
  expect(await scene.open(links.leavers)).toBe(404);
  expect((await leaver.browser.ask('GET', '/session')).status).toBe(401);
});
