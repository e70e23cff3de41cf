import { expect, test } from 'vitest';
import { openTeam } from '../api/support/portal.ts';
import { observeVitals, readVitals } from '../load/portal/vitals.ts';
import { goTo, pagesOf } from './support/pages.ts';
import { openPortal } from './support/portal.ts';

const portal = await openPortal();
const { owner } = await openTeam(portal.world);
const noIds = { healthy: 1, failing: 1, off: 1, delivery: '1/1/0', event: 1, replay: 1, key: 1, member: 1 };
/** The pages of a company that has just begun: those without an ID in their path. */
const places = pagesOf(noIds).filter(({ path }) => !/\d/.test(path));

/** What counts as no shift at all. */
const maxShift = 0.01;
/** Long enough for every skeleton to be painted before the content. */
const answerDelayMs = 150;

test('No page shifts while it loads', { timeout: 600_000 }, async () => {
  const page = await portal.open(owner, { viewport: { width: 1440, height: 900 } });
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
});

test('No page scrolls in a window that has room for it, nor sideways in any', {
  timeout: 600_000,
}, async () => {
  const page = await portal.open(owner, { viewport: { width: 1440, height: 5000 } });
  const scrolls: string[] = [];
  for (const place of places) {
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
