import { testReceiver } from '@causeway/runtime/testing';
import type { Page } from '@playwright/test';
import { expect, test } from 'vitest';
import { openTeam } from '../api/support/portal.ts';
import { observeVitals, readVitals } from '../load/portal/vitals.ts';
import { furnish } from './support/furnish.ts';
import { furnishHard } from './support/furnish-hard.ts';
import { dialogsOf, goTo, type Place, pagesOf } from './support/pages.ts';
import { openPortal, type PageOptions } from './support/portal.ts';

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

/** Measures shifts while answers of the interface take a while. Playwright's routes would take twice the processor time. */
const measured =
  (cacheDisabled: boolean) =>
  async (page: Page): Promise<void> => {
    await observeVitals(page);
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    const slow = { latency: answerDelayMs, downloadThroughput: -1, uploadThroughput: -1 };
    await session.send('Network.emulateNetworkConditionsByRule', {
      matchedNetworkConditions: [{ urlPattern: '*://*:*/portal/api/*', ...slow }],
    });
    await session.send('Network.setCacheDisabled', { cacheDisabled });
  };

/** Two windows share the places: most of the time goes by waiting. */
const inTwoWindows = async (
  member: typeof full.owner,
  { viewport, ...options }: PageOptions & { readonly viewport: Size },
  places: readonly Place[],
  look: (page: Page, place: Place) => Promise<void>,
  prepare?: (page: Page) => Promise<void>,
): Promise<void> => {
  const rest = places.values();
  const open = () => portal.open(member, { viewport, ...options });
  const windows = await Promise.all([open(), open()]);
  await Promise.all(
    windows.map(async (page) => {
      await prepare?.(page);
      for (const place of rest) {
        await page.setViewportSize(viewport);
        await goTo(page, place);
        if (prepare) await page.waitForLoadState('networkidle');
        await look(page, place);
      }
    }),
  );
};

interface Size {
  readonly width: number;
  readonly height: number;
}
const wide = { width: 1440, height: 900 };
const widths = [wide, { width: 1280, height: 800 }, { width: 390, height: 844 }, { width: 320, height: 640 }];

/** What shifted while the page loaded, as one line. */
const shiftOf = async (page: Page, { name }: Place): Promise<string[]> => {
  const { cls, shifted } = await readVitals(page);
  return cls > maxShift ? [`${name}: ${cls.toFixed(3)} (${shifted})`] : [];
};

test.each(widths)(
  'No page with many rows shifts during its first load in $width px',
  { timeout: 600_000 },
  async (viewport) => {
    const shifts: string[] = [];
    await inTwoWindows(
      full.owner,
      { viewport },
      allPlaces,
      async (page, place) => {
        shifts.push(...(await shiftOf(page, place)));
      },
      measured(true),
    );
    expect(shifts).toEqual([]);
  },
);

test('No page without rows shifts during a later load, scrolls in a window that has room for it, or scrolls sideways', {
  timeout: 600_000,
}, async () => {
  const found: string[] = [];
  await inTwoWindows(
    empty.owner,
    { viewport: wide },
    emptyPlaces,
    async (page, place) => {
      found.push(...(await shiftOf(page, place)));
      for (const width of [1440, 390, 320]) {
        await page.setViewportSize({ width, height: 5000 });
        const [right, down] = (await page.evaluate(
          '(({ scrollWidth, scrollHeight }) => [scrollWidth - innerWidth, scrollHeight - innerHeight])(document.documentElement)',
        )) as [number, number];
        if (right > 0 || (down > 0 && down < 1000))
          found.push(`${place.name} at ${width} px: ${right}, ${down}`);
      }
    },
    measured(false),
  );
  expect(found).toEqual([]);
});

/** Texts that do not fit into their boxes, without names, which may be cut off: hovering shows all of them. */
const cutOff = `[...document.querySelectorAll('button, a, label, legend, th, h2, h3, dt, summary, [role=tab]')]
  .filter((one) => one.clientWidth > 1 && !one.closest('.visually-hidden') && one.scrollWidth > one.clientWidth + 1 && !one.querySelector('[data-tip-cut]'))
  .map((one) => one.textContent.trim().slice(0, 40))`;

/** Placeholders wider than their fields. */
const cutPlaceholders = `[...document.querySelectorAll('input[placeholder]')].filter((one) => {
  const { fontWeight, fontSize, fontFamily, paddingLeft, paddingRight } = getComputedStyle(one);
  const context = document.createElement('canvas').getContext('2d');
  context.font = [fontWeight, fontSize, fontFamily].join(' ');
  const room = one.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  return one.clientWidth > 1 && context.measureText(one.placeholder).width > room + 1;
}).map((one) => one.placeholder)`;

test('No text of a page or dialog is cut off', { timeout: 600_000 }, async () => {
  const found: string[] = [];
  const places = [...allPlaces, ...dialogsOf(furnished)].map(({ name, path, dialog }) => ({
    ...{ name, path },
    ...(dialog === undefined ? { heading: /./ } : { dialog: /./ }),
  }));
  await inTwoWindows(full.owner, { viewport: wide }, places, async (page, { name }) => {
    for (const width of [1440, 1280, 390, 320]) {
      await page.setViewportSize({ width, height: 900 });
      const right = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
      const cut = (await page.evaluate(`[...${cutOff}, ...${cutPlaceholders}]`)) as string[];
      if (right > 0 || cut.length > 0) found.push(`${name} at ${width} px: ${right}, ${cut.join(' | ')}`);
    }
  });
  expect(found).toEqual([]);
});
