import { until } from '@causeway/runtime/testing/until';
import { expect, test } from 'vitest';
import { outcome } from '../support/clock.ts';
import { hold, kill } from '../support/kill.ts';
import { openLeaver } from '../support/leaver.ts';
import { allReady } from '../support/processes.ts';
import { openWorld } from '../support/world.ts';

// A member is removed in `access`, and what they made ends in `webhooks`. Either is killed in the middle.

const world = await openWorld();

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
  const held = await hold(
    world,
    'INSERT INTO member_endings VALUES (?, ?, NOW(3), NOW(3), NULL, "{}", NULL)',
    [scene.companyId, leaver.id],
  );
  const first = outcome(owner.browser.ask('DELETE', `/team/members/${leaver.id}`));
  await held.awaited();
  const gone = kill(world, 'access');
  await held.release();
  await first;
  await allReady(world, gone);
  expect(await scene.enabled()).toHaveLength(4);
  expect(await scene.open(scene.links.leavers)).toBe(200);
  await scene.as('DELETE', `/team/members/${leaver.id}`);
  await expectEnded(scene);
});

test.each([[['webhooks']], [['webhooks', 'access']]])(
  '%j killed while webhooks ends what they made: the link is dead from the commit, the rest ends once',
  async (kinds) => {
    const scene = await openLeaver(world);
    const { owner, leaver } = scene;
    const held = await hold(world, 'SELECT 1 FROM notice_channels WHERE company_id = ? FOR UPDATE', [
      scene.companyId,
    ]);
    const first = outcome(owner.browser.ask('DELETE', `/team/members/${leaver.id}`));
    await held.awaited();
    expect(await scene.open(scene.links.leavers)).toBe(404);
    const gone = kill(world, ...kinds);
    await held.release();
    await first;
    await allReady(world, gone);
    await expectEnded(scene);
  },
);
