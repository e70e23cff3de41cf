import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import type { Page } from '@playwright/test';
import { describe, expect, test } from 'vitest';
import type { Team } from '../api/support/portal.ts';
import { tabTo } from './support/keyboard.ts';
import { openPortal, see, visit } from './support/portal.ts';
import { openSubscriber, type Subscriber, skipProbes } from './support/subscriber.ts';

// What broken receivers have not got arrives, once, from one place. An attempt that failed is no arrival.

const portal = await openPortal();
const receiver = await testReceiver();
const card = (page: Page) =>
  page.locator('section', { has: page.getByRole('heading', { level: 2, name: 'Catch up' }) });

/** Breaks the receiver until it is switched off, with `held` deliveries held and `missed` events missed. */
const breakIt = async (
  team: Team,
  subscriber: Subscriber,
  {
    held = 3,
    missed = 2,
    ...more
  }: { held?: number; missed?: number; name?: string; eventTypes?: string[] } = {},
) => {
  const { id, name, eventTypes } = await subscriber.subscribe(more);
  const [type] = eventTypes;
  const ask = async () => (await team.owner.browser.ask('GET', `/subscriptions/${id}`)).json;
  subscriber.behave('status=503');
  await subscriber.createEvents(held, type);
  await until('it is switched off', async () => {
    await skipProbes(portal.world, team.companyId);
    const { enabled, health } = await ask();
    return !enabled && health.held === held;
  });
  if (missed > 0) await subscriber.createEvents(missed, type);
  const since = (await ask()).disabledUtc;
  // Pages count them every half a minute.
  await until('the events are missed', async () => {
    const body = { kind: 'missed', subscriptionId: id, since };
    return (await team.owner.browser.ask('POST', '/replays/preview', body)).json.count === missed;
  });
  return {
    id: Number(id),
    name: String(name),
    ask,
    total: held + missed,
    seen: subscriber.received().length,
  };
};

/** The events that arrived after `seen`, each once. */
const arrived = async (subscriber: Subscriber, { seen, total }: { seen: number; total: number }) => {
  const ids = () =>
    subscriber
      .received()
      .slice(seen)
      .filter(({ body }) => JSON.parse(String(body)).metadata?.test !== true)
      .map(({ id }) => id);
  await until('all have arrived', () => new Set(ids()).size >= total);
  return ids();
};

const open = async () => {
  const { team, page } = await portal.openOwner({ mayLog: /ERR_FAILED|409/ });
  return { team, page, subscriber: openSubscriber(portal.world, receiver, team) };
};

describe('Catching up', () => {
  test('tests, enables and delivers with the keyboard alone, and shows the end in every window', async () => {
    const { team, page, subscriber } = await open();
    const broken = await breakIt(team, subscriber);
    await visit(page, `subscriptions/${broken.id}`, 'Billing');
    await see(page.getByRole('alert')).toContainText('20 consecutive failures');
    const viewer = await portal.open(await team.join('viewer'));
    await visit(viewer, `subscriptions/${broken.id}`, 'Billing');
    await see(card(viewer)).toContainText('5 deliveries have not arrived');
    await see(card(viewer).getByRole('button')).toHaveCount(0);

    await see(card(page)).toContainText('3 are held since it was disabled');
    await see(card(page)).toContainText('2 were missed since it was disabled');
    const tests = card(page).getByRole('button', { name: 'Test the receiver…' });
    await tabTo(page, tests);
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Test “Billing”' });
    await tabTo(page, dialog.getByRole('button', { name: 'Send test delivery' }));
    await page.keyboard.press('Enter');
    await see(dialog.getByText('The receiver failed (503)')).toBeVisible();
    subscriber.behave();
    await page.keyboard.press('Enter');
    await see(dialog.getByText('The receiver accepted the delivery.')).toBeVisible();
    await page.keyboard.press('Escape');
    await see(tests).toBeFocused();
    broken.seen = subscriber.received().length;
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    await see(card(page).getByRole('button', { name: 'Enable and deliver 5' })).toBeFocused();
    await page.keyboard.press('Enter');
    await see(card(page).getByText('Everything has arrived.')).toBeFocused();
    expect(await arrived(subscriber, broken)).toHaveLength(5);
    await see(viewer.getByText('Everything has arrived.')).toBeVisible();
    await page.reload();
    await see(card(page).getByText('Everything has arrived.')).toBeVisible();
    await see(card(page).getByRole('list', { name: 'Replays' })).toContainText('3 released');
    await see(card(page).getByRole('list', { name: 'Replays' })).toContainText('2 delivered');
    await until('the incident has ended', async () => {
      const { json } = await team.owner.browser.ask('GET', '/incidents?state=ended');
      return json.incidents.length === 1;
    });
    expect(await arrived(subscriber, broken)).toHaveLength(5);
  });

  test('delivers each event once though every first answer is lost and a second window does the same', async () => {
    const { team, page, subscriber } = await open();
    const broken = await breakIt(team, subscriber);
    subscriber.behave();
    const second = await page.context().newPage();
    const lost = new Set<string>();
    await page.route(/\/(enable|held\/release|replays)$/, async (route) => {
      const { pathname } = new URL(route.request().url());
      if (route.request().method() !== 'POST' || lost.has(pathname)) return route.fallback();
      lost.add(pathname);
      await route.fetch();
      return route.abort();
    });
    const press = (one: Page) => card(one).getByRole('button', { name: 'Enable and deliver 5' }).click();
    for (const one of [page, second]) {
      await visit(one, `subscriptions/${broken.id}`, 'Billing');
      await see(card(one).getByRole('button', { name: 'Enable and deliver 5' })).toBeVisible();
    }
    await Promise.all([press(page), press(second)]);
    for (const one of [page, second]) {
      await see(card(one).getByText('Everything has arrived.')).toBeVisible();
      await see(card(one).getByRole('alert')).toHaveCount(0);
    }
    expect(lost.size).toBeGreaterThan(0);
    expect(await arrived(subscriber, broken)).toHaveLength(5);
    const { deliveries } = (await team.owner.browser.ask('GET', '/deliveries?limit=100')).json;
    expect(deliveries).toHaveLength(5);
  });

  test('of several receivers tests each first: one that hangs stays off, the others get everything once', async () => {
    const { team, page } = await open();
    const away = await testReceiver();
    const of = (name: string, to = receiver): Subscriber => {
      const one = openSubscriber(portal.world, to, team);
      const path = `${one.path}/${name.toLowerCase()}`;
      return {
        ...one,
        received: () => to.received.filter((got) => got.path === path),
        behave: (behaviour) => to.behave(path, behaviour),
        subscribe: (more) => one.subscribe({ ...more, url: `${to.url}${path}` }),
      };
    };
    const names = ['Failing', 'Refusing', 'Hanging'] as const;
    const subscribers = [of('Failing'), of('Refusing', away), of('Hanging')] as const;
    const types = ['payment.failed', 'agreement.signed', 'invoice.created'] as const;
    const broken = await Promise.all(
      subscribers.map((one, at) => breakIt(team, one, { name: names[at]!, eventTypes: [types[at]!] })),
    );
    await away.down();
    subscribers[0].behave();
    subscribers[1].behave();
    subscribers[2].behave('hang');
    await visit(page, 'subscriptions', 'Subscriptions');
    await page.getByRole('button', { name: 'Catch up 3 receivers…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Catch up' });
    await dialog.getByRole('button', { name: 'Enable 3 and deliver 15' }).click();
    await see(dialog.getByText('Could not connect')).toBeVisible();
    await see(dialog.getByText('Timed out')).toBeVisible();
    await see(dialog.getByText('Everything has arrived')).toBeVisible();
    expect(await arrived(subscribers[0], broken[0]!)).toHaveLength(5);
    for (const one of broken.slice(1)) expect(await one.ask()).toMatchObject({ enabled: false });

    await away.up();
    subscribers[2].behave();
    for (const at of [1, 2]) broken[at]!.seen = subscribers[at]!.received().length;
    await page.reload();
    await dialog.getByRole('checkbox', { name: 'Hanging' }).uncheck();
    await dialog.getByRole('button', { name: 'Enable 1 and deliver 5' }).click();
    await see(dialog.getByText('Everything has arrived')).toBeVisible();
    expect(await arrived(subscribers[1], broken[1]!)).toHaveLength(5);
    expect(await broken[2]!.ask()).toMatchObject({ enabled: false });
    await dialog.getByRole('checkbox', { name: 'Hanging' }).check();
    await dialog.getByRole('button', { name: 'Enable 1 and deliver 5' }).click();
    await see(dialog.getByText('Everything has arrived')).toHaveCount(2);
    expect(await arrived(subscribers[2], broken[2]!)).toHaveLength(5);
    await page.keyboard.press('Escape');
    await see(page.getByRole('button', { name: /^Catch up/ })).toHaveCount(0);
  });

  test('delivers what failed for good, and can discard what is held and dismiss what was missed', async () => {
    const { team, page, subscriber } = await open();
    const broken = await breakIt(team, subscriber, { held: 4 });
    await portal.world.sql(
      "UPDATE deliveries SET state = 'failed', due_utc = NULL WHERE company_id = ? AND state = 'held' LIMIT 2",
      [team.companyId],
    );
    await portal.world.sql('UPDATE delivery_queues SET held_deliveries = 2 WHERE company_id = ?', [
      team.companyId,
    ]);
    subscriber.behave();
    await visit(page, `subscriptions/${broken.id}`, 'Billing');
    await card(page).getByRole('button', { name: 'Discard…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard deliveries' }).click();
    await see(card(page)).toContainText('2 discarded');
    await card(page).getByRole('button', { name: 'Enable only' }).click();
    await card(page).getByRole('button', { name: 'Dismiss' }).click();
    await see(card(page).getByText('2 deliveries have not arrived.')).toBeVisible();
    await card(page).getByRole('button', { name: 'Deliver 2' }).click();
    await see(card(page).getByText('Everything has arrived.')).toBeVisible();
    expect(await arrived(subscriber, { ...broken, total: 2 })).toHaveLength(2);
  });
});

describe('A choice of one’s own', () => {
  test('is counted first, delivered, and never restored', async () => {
    const { team, page, subscriber } = await open();
    const { id } = await subscriber.subscribe();
    await subscriber.createClients(3);
    await until('they arrive', () => subscriber.received().length === 3);
    await visit(page, `subscriptions/${id}`, 'Billing');
    const opener = card(page).getByRole('button', { name: 'Deliver others again…' });
    await opener.click();
    await see(card(page).getByText('Nothing matches.')).toBeVisible();
    await card(page).getByRole('radio', { name: 'Everything' }).check();
    await see(card(page).getByText('3 deliveries, in about')).toBeVisible();
    await card(page).getByRole('button', { name: 'Cancel' }).click();
    await opener.click();
    await see(card(page).getByRole('radio', { name: 'Failed deliveries' })).toBeChecked();
    await page.reload();
    await see(card(page).getByRole('radio', { name: 'Failed deliveries' })).toBeChecked();
    await card(page).getByRole('radio', { name: 'Everything' }).check();
    await card(page).getByRole('button', { name: 'Deliver 3 again' }).click();
    const replays = card(page).getByRole('list', { name: 'Replays' });
    await see(replays).toContainText('3 delivered');
    await until('they arrive again', () => subscriber.received().length === 6);
    await replays.getByRole('link', { name: 'Chosen deliveries' }).click();
    await see(page.getByRole('row').filter({ hasText: 'client.created' })).toHaveCount(3);
    const { json } = await team.owner.browser.ask('GET', `/replays?subscriptionId=${id}`);
    expect(json.replays).toHaveLength(1);
  });

  test('can be cancelled while it is under way', async () => {
    const { team, page, subscriber } = await open();
    await subscriber.createEvents(300, 'payment.failed');
    subscriber.behave('delay=500');
    const { id } = await subscriber.subscribe({ eventTypes: ['payment.failed'] });
    await visit(page, `subscriptions/${id}`, 'Billing');
    await card(page).getByRole('button', { name: 'Deliver others again…' }).click();
    await card(page).getByRole('radio', { name: 'Missed events' }).check();
    // The last of them may still be on their way when the subscription is created, and are not missed then.
    await card(page)
      .getByRole('button', { name: /^Deliver [23]\d\d again$/ })
      .click();
    await card(page).getByRole('list', { name: 'Replays' }).getByRole('button', { name: 'Cancel' }).click();
    await see(card(page).getByText('Cancelled', { exact: true })).toBeVisible();
    const { json } = await team.owner.browser.ask('GET', '/replays');
    expect(json.replays[0]).toMatchObject({ state: 'cancelled' });
    expect(json.replays[0].made).toBeLessThan(json.replays[0].total);
  });
});
