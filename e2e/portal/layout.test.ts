import { testReceiver } from '@causeway/runtime/testing';
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

test.each([
  { rows: 'many rows', width: 1440, height: 900, member: full.owner, places: allPlaces },
  { rows: 'many rows', width: 390, height: 844, member: full.owner, places: allPlaces },
  { rows: 'no rows', width: 1440, height: 900, member: empty.owner, places: emptyPlaces },
])(
  'No page with $rows shifts while it loads in $width px',
  { timeout: 600_000 },
  async ({ member, width, height, places }) => {
    const page = await portal.open(member, { viewport: { width, height } });
    await observeVitals(page);
    await page.route('**/portal/api/v1/**', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, answerDelayMs));
      await route.continue();
    });
    const shifts: string[] = [];
    for (const place of places) {
      await goTo(page, place);
      await page.waitForLoadState('networkidle');
      const { cls, shifted } = await readVitals(page);
      if (cls > maxShift) shifts.push(`${place.name}: ${cls.toFixed(3)} (${shifted})`);
    }
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
