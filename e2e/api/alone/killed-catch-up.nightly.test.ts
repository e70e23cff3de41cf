import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { expect, test } from 'vitest';
import { openPortal, see, visit } from '../../portal/support/portal.ts';
import { openSubscriber, skipProbes } from '../../portal/support/subscriber.ts';
import { kill, killDuring } from '../support/kill.ts';
import { allReady } from '../support/processes.ts';

const portal = await openPortal();
const { world } = portal;
const receiver = await testReceiver();

const open = async () => {
  const { team, page } = await portal.openOwner({ mayLog: /50\d|ERR_/ });
  const subscriber = openSubscriber(world, receiver, team);
  const { id } = await subscriber.subscribe();
  const ask = async () => (await team.owner.browser.ask('GET', `/subscriptions/${id}`)).json;
  return { team, page, subscriber, id, ask };
};

/** Attempts whose answer a killed dispatcher had not recorded are made again: as many as it makes at a time. */
const mostUnrecorded = { webhooks: 0, dispatcher: 64 } as const;

test.each(['webhooks', 'dispatcher'] as const)(
  'every %s is killed while a receiver catches up: everything arrives, and nothing is made twice',
  async (kind) => {
    const { team, page, subscriber, id, ask } = await open();
    subscriber.behave('status=503');
    await subscriber.createEvents(100);
    await until('it is switched off', async () => {
      await skipProbes(world, team.companyId);
      const { enabled, health } = await ask();
      return !enabled && health.held === 100;
    });
    await subscriber.createEvents(100);
    subscriber.behave('delay=30');
    const before = subscriber.received().length;
    const ids = () =>
      subscriber
        .received()
        .slice(before)
        .map((one) => one.id);
    await visit(page, `subscriptions/${id}`, 'Billing');
    const act = page.getByRole('button', { name: /^(Enable and deliver|Deliver) \d+$/ });
    await act.click();
    if (kind === 'dispatcher') await until('the first arrive', () => ids().length > 10);
    await allReady(world, kill(world, kind));
    const end = page.getByText('Everything has arrived.');
    await see(async () => {
      if (await act.isVisible()) await act.click();
      await see(end).toBeVisible({ timeout: 10_000 });
    }).toPass();
    await until('all have arrived', () => new Set(ids()).size === 200);
    expect(ids().length - 200).toBeLessThanOrEqual(mostUnrecorded[kind]);
    const rows = await world.sql<{ state: string; count: number }>(
      'SELECT state, COUNT(*) AS count FROM deliveries WHERE company_id = ? GROUP BY state',
      [team.companyId],
    );
    expect(rows).toEqual([{ state: 'succeeded', count: 200 }]);
  },
);

test('the dispatchers are killed between an incident and its notice: both are there, once', async () => {
  const { team, subscriber } = await open();
  subscriber.behave('status=503');
  await killDuring(
    world,
    ['dispatcher'],
    ['SELECT 1 FROM notices WHERE company_id = ? FOR UPDATE', [team.companyId]],
    () => subscriber.createEvents(6),
  );
  const count = async (what: string) => {
    const [row] = await world.sql<{ count: number }>(
      `SELECT COUNT(*) AS count FROM ${what} AND company_id = ?`,
      [team.companyId],
    );
    return row!.count;
  };
  const incidents = () => count('incidents WHERE TRUE');
  await until('the incident is open', async () => (await incidents()) > 0);
  expect([await incidents(), await count("notices WHERE kind = 'subscription_failing'")]).toEqual([1, 1]);
});
