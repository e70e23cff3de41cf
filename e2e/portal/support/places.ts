import type { Receiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import type { Page } from '@playwright/test';
import { expect } from 'vitest';
import type { Team } from '../../api/support/portal.ts';
import type { Json } from '../../api/support/world.ts';
import { type Portal, see } from './portal.ts';
import { fillSignIn } from './sign-in.ts';
import { openSubscriber, type Subscriber } from './subscriber.ts';

/** A form or button, and what the server has of it. */
interface Place {
  readonly name: string;
  /** @returns the path. */
  readonly prepare: (team: Team, subscriber: Subscriber) => Promise<string> | string;
  readonly fill?: (page: Page, receiverUrl: string) => Promise<void>;
  readonly submit: string | RegExp;
  /** Of the request whose first answer is lost. */
  readonly request: RegExp;
  /** How often it is done, as the interface says. */
  readonly count: (ask: (path: string) => Promise<Json>, path: string) => Promise<number>;
}

const subscription = async (_: Team, subscriber: Subscriber) =>
  `subscriptions/${(await subscriber.subscribe()).id}`;
const idIn = (path: string): string => /\d+/.exec(path)?.[0] ?? '';

/** @returns the path of a delivery that was attempted. */
export const attemptedDelivery =
  (behaviour: string, dialog = '') =>
  async (team: Team, subscriber: Subscriber): Promise<string> => {
    subscriber.behave(behaviour);
    const { id } = await subscriber.subscribe();
    await subscriber.createEvents(1);
    let found: Json;
    await until('the delivery is attempted', async () => {
      const { json } = await team.owner.browser.ask('GET', `/deliveries?subscriptionId=${id}`);
      found = json.deliveries[0];
      return found?.attempts > 0;
    });
    return `deliveries/${found.eventId}/${id}/0${dialog}`;
  };

/** A form of a page, and one in a dialog. Catching up shows by day that a button is safe to press again. */
export const placesByDay: readonly Place[] = [
  {
    name: 'a new subscription',
    prepare: () => 'subscriptions/new',
    fill: async (page, receiverUrl) => {
      await page.getByLabel('URL').fill(`${receiverUrl}/new`);
      await page.getByRole('checkbox', { name: 'client.created' }).check();
    },
    submit: 'Add subscription',
    request: /\/subscriptions$/,
    count: async (ask) => (await ask('/subscriptions')).subscriptions.length,
  },
  {
    name: 'an API key',
    prepare: () => 'keys?dialog=create',
    fill: async (page) => {
      await page.getByRole('dialog').getByLabel('Name').fill('Website');
      await page.getByRole('dialog').getByRole('checkbox').first().check();
    },
    submit: 'Create key',
    request: /\/keys$/,
    count: async (ask) => (await ask('/keys')).keys.length,
  },
];

export const placesAtNight: readonly Place[] = [
  {
    name: 'a delivery resent',
    prepare: attemptedDelivery(''),
    submit: 'Resend',
    request: /\/resend$/,
    count: async (ask, path) => (await ask(`/${path}`)).others.length,
  },
  {
    name: 'a changed subscription',
    prepare: async (...of) => `${await subscription(...of)}/edit`,
    fill: (page) => page.getByLabel('Description').fill('Owned by finance'),
    submit: 'Save changes',
    request: /\/subscriptions\/\d+$/,
    count: async (ask, path) => {
      const { entries } = await ask(`/audit?targetKind=subscription&targetId=${idIn(path)}`);
      return entries.filter((one: Json) => one.after?.description === 'Owned by finance').length;
    },
  },
  {
    name: 'the end of a subscription',
    prepare: async (...of) => `${await subscription(...of)}?dialog=disable`,
    submit: 'Disable subscription',
    request: /\/subscriptions\/\d+$/,
    count: async (ask) =>
      (await ask('/subscriptions')).subscriptions.filter(({ enabled }: Json) => !enabled).length,
  },
  {
    name: 'a new signing secret',
    prepare: async (...of) => `${await subscription(...of)}?dialog=rotate`,
    submit: 'Rotate secret',
    request: /\/rotate-secret$/,
    count: async (ask, path) =>
      Number((await ask(`/subscriptions/${idIn(path)}`)).previousSecretUntilUtc !== null),
  },
  {
    name: 'deliveries chosen again',
    prepare: async (...of) =>
      `subscriptions/${(await attemptedDelivery('')(...of)).split('/')[2]}?dialog=again`,
    fill: (page) => page.getByRole('radio', { name: 'Everything' }).check(),
    submit: 'Deliver 1 again',
    request: /\/replays$/,
    count: async (ask, path) => (await ask(`/replays?subscriptionId=${idIn(path)}`)).replays.length,
  },
  {
    name: 'a shared delivery',
    prepare: attemptedDelivery('', '?dialog=share'),
    submit: 'Create link',
    request: /\/shares$/,
    count: async (ask) => (await ask('/delivery-shares')).shares.length,
  },
  {
    name: 'a discarded delivery',
    prepare: attemptedDelivery('status=503&retryAfter=3600', '?dialog=cancel'),
    submit: 'Cancel delivery',
    request: /\/cancel$/,
    count: async (ask) =>
      (await ask('/deliveries')).deliveries.filter(({ state }: Json) => state === 'dropped').length,
  },
  {
    name: 'an invitation',
    prepare: () => 'team?dialog=invite',
    fill: (page) => page.getByLabel('Email').fill('grace@example.com'),
    submit: 'Create invitation link',
    request: /\/team\/invitations$/,
    count: async (ask) => (await ask('/team')).invitations.length,
  },
];

/** What a place was filled with outlasts a reload, Back and the session, and is done once though its answer is lost in a second tab. */
export const outlasts = async (
  portal: Portal,
  receiver: Receiver,
  { prepare, fill, submit, request, count }: Place,
): Promise<void> => {
  const { team, page } = await portal.openOwner({ mayLog: /ERR_FAILED|status of 4/ });
  const path = await prepare(team, openSubscriber(portal.world, receiver, team));
  const ask = async (of: string): Promise<Json> => (await team.owner.browser.ask('GET', of)).json;
  const button = (one: Page) =>
    (/dialog=(?!again)/.test(path) ? one.getByRole('dialog') : one).getByRole('button', {
      name: submit,
      exact: true,
    });
  const complete = async (one: Page): Promise<void> => {
    await fill?.(one, receiver.url);
    await see(button(one)).toBeEnabled();
  };
  await page.goto(path);
  await complete(page);
  await page.reload();
  await complete(page);
  await page.goto('events');
  await see(page.getByRole('heading', { level: 1, name: 'Events' })).toBeVisible();
  await page.goBack();
  await complete(page);

  await page.context().clearCookies();
  // What the page refreshes by itself may be refused before.
  await button(page)
    .click({ timeout: 5_000 })
    .catch(() => {});
  await see(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await fillSignIn(page, team.owner);
  await complete(page);

  const second = await page.context().newPage();
  const statuses: number[] = [];
  let begun = 0;
  let ended = 0;
  await second.route(
    ({ pathname }) => request.test(pathname),
    async (route) => {
      if (route.request().method() === 'GET') return route.fallback();
      begun++;
      const response = await route.fetch();
      const isFirst = statuses.push(response.status()) === 1;
      await (isFirst ? route.abort() : route.fulfill({ response }));
      ended++;
    },
  );
  await second.goto(path);
  await complete(second);
  await button(second).click();
  await see.poll(() => statuses.length).toBe(1);
  // A page that has read its data again offers the step no longer.
  await button(second)
    .click({ timeout: 5_000 })
    .catch(() => {});
  await see.poll(() => begun - ended).toBe(0);
  await see.poll(() => count(ask, path.replace(/\?.*/, ''))).toBe(1);
  // 409: it was done before.
  expect(statuses.filter((status) => status >= 300 && status !== 409)).toEqual([]);
};
