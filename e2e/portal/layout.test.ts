import { testReceiver } from '@causeway/runtime/testing';
import type { CDPSession, Page } from '@playwright/test';
import { expect, test } from 'vitest';
import { openTeam } from '../api/support/portal.ts';
import { observeVitals, readVitals } from '../load/portal/vitals.ts';
import { furnish } from './support/furnish.ts';
import { furnishHard } from './support/furnish-hard.ts';
import { goTo, pagesOf } from './support/pages.ts';
import { openPortal } from './support/portal.ts';

const portal = await openPortal();
const receiver = await testReceiver();
const full = await openTeam(portal.world);
const furnished = await furnish(portal.world, receiver, full);
await furnishHard(portal.world, full, 30);
const allPlaces = pagesOf(furnished);
/** A company that has just begun has the pages without an ID in their path or search. */
const empty = await openTeam(portal.world);
const emptyPlaces = allPlaces.filter(
  ({ path }) => !/\/\d/.test(path) && !path.includes(`=${furnished.healthy}`),
);

/** What counts as no shift at all. */
const maxShift = 0.01;
/** Long enough for every skeleton to be painted before the content. */
const answerDelayMs = 150;

/** Makes answers of the interface take a while. Playwright's routes would do so at twice the processor time. */
const slowDown = async (page: Page): Promise<CDPSession> => {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  const slow = { latency: answerDelayMs, downloadThroughput: -1, uploadThroughput: -1 };
  await session.send('Network.emulateNetworkConditionsByRule', {
    matchedNetworkConditions: [{ urlPattern: '*://*:*/portal/api/*', ...slow }],
  });
  return session;
};

test.each([
  { rows: 'many rows', width: 1440, height: 900, member: full.owner, places: allPlaces, visits: 'first' },
  { rows: 'many rows', width: 390, height: 844, member: full.owner, places: allPlaces, visits: 'first' },
  { rows: 'no rows', width: 1440, height: 900, member: empty.owner, places: emptyPlaces, visits: 'later' },
])(
  'No page with $rows shifts while it loads in $width px',
  { timeout: 600_000 },
  async ({ member, width, height, places, visits }) => {
    const rest = places.values();
    const shifts: string[] = [];
    // Two windows: most of the time goes by waiting.
    const look = async (page: Page): Promise<void> => {
      await observeVitals(page);
      const session = await slowDown(page);
      await session.send('Network.setCacheDisabled', { cacheDisabled: visits === 'first' });
      for (const place of rest) {
        await goTo(page, place);
        await page.waitForLoadState('networkidle');
        const { cls, shifted } = await readVitals(page);
        if (cls > maxShift) shifts.push(`${place.name}: ${cls.toFixed(3)} (${shifted})`);
      }
    };
    const options = { viewport: { width, height } };
    await Promise.all([look(await portal.open(member, options)), look(await portal.open(member, options))]);
    expect(shifts).toEqual([]);
  },
);

test('No page scrolls in a window that has room for it, nor sideways in any', {
  timeout: 600_000,
}, async () => {
  const page = await portal.open(empty.owner, { viewport: { width: 1440, height: 5000 } });
  const scrolls: string[] = [];
  for (const place of emptyPlaces) {
    await goTo(page, place);
    for (const width of [1440, 390, 320]) {
      await page.setViewportSize({ width, height: 5000 });
      const [right, down] = (await page.evaluate(
        '(({ scrollWidth, scrollHeight }) => [scrollWidth - innerWidth, scrollHeight - innerHeight])(document.documentElement)',
      )) as [number, number];
      if (right > 0 || (down > 0 && down < 1000))
        scrolls.push(`${place.name} at ${width} px: ${right}, ${down}`);
    }
  }
  expect(scrolls).toEqual([]);
});
