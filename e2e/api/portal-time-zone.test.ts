import { expect, test } from 'vitest';
import { openTeam } from './support/portal.ts';
import { openWorld } from './support/world.ts';

const world = await openWorld();

test('A company has the zone UTC until an admin sets another, which all its members see', async () => {
  const { owner, join } = await openTeam(world);
  const other = await openTeam(world);
  const [admin, viewer] = [await join('admin'), await join('viewer')];
  const zoneFor = async ({ browser }: typeof owner): Promise<string> =>
    (await browser.ask('GET', '/session')).json.company.timeZone;
  expect(await zoneFor(viewer)).toBe('UTC');

  const set = (timeZone: unknown, { browser } = admin) =>
    browser.ask('PATCH', '/company/time-zone', { timeZone });
  expect((await set('America/Argentina/Buenos_Aires')).status).toBe(204);
  expect((await set('Europe/Berlin')).status).toBe(204);
  expect((await set('Europe/Berlin')).status).toBe(204);
  expect(await zoneFor(viewer)).toBe('Europe/Berlin');
  expect(await zoneFor(other.owner)).toBe('UTC');

  const { json } = await owner.browser.ask('GET', '/audit?action=company.time_zone_changed');
  expect(json.entries.map(({ before, after }: Record<string, unknown>) => [before, after])).toEqual([
    [{ time_zone: 'America/Argentina/Buenos_Aires' }, { time_zone: 'Europe/Berlin' }],
    [{ time_zone: 'UTC' }, { time_zone: 'America/Argentina/Buenos_Aires' }],
  ]);
});

test('Only admins set the zone, and only to one that exists', async () => {
  const { owner, join } = await openTeam(world);
  const developer = await join('developer');
  const set = (timeZone: unknown, { browser } = owner) =>
    browser.ask('PATCH', '/company/time-zone', { timeZone });
  expect((await set('Europe/Berlin', developer)).status).toBe(403);
  for (const wrong of ['Mars/Olympus', '+02:00', '', 'x'.repeat(65), 7, null])
    expect((await set(wrong)).status, String(wrong)).toBe(400);
  expect((await owner.browser.ask('GET', '/session')).json.company.timeZone).toBe('UTC');
});
