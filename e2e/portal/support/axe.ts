import type { Page } from '@playwright/test';
import axe, { type AxeResults, type RunOptions } from 'axe-core';
import type { Place } from './pages.ts';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Invisible focus guards around a menu, which pass the focus on at once. */
const focusGuards = '[data-base-ui-focus-guard]';

const rulesOf = (theme: 'light' | 'dark', without: readonly string[]): RunOptions =>
  theme === 'light'
    ? { runOnly: tags, rules: Object.fromEntries(without.map((rule) => [rule, { enabled: false }])) }
    : { runOnly: ['color-contrast', 'link-in-text-block'] };

/**
 * The findings of axe, one line for each element. The second theme is checked for colours only, because all else is the
 * same.
 * @param within selectors of the parts to check; the whole page by default.
 */
export const violations = async (
  page: Page,
  within: readonly string[] = [],
  without: readonly string[] = [],
): Promise<string[]> => {
  const found: string[] = [];
  // The library is half a megabyte of script, so a page loads it once.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    // Describing what is all right would take longer than finding it.
    const options = JSON.stringify({ ...rulesOf(theme, without), resultTypes: ['violations'] });
    const parts = JSON.stringify({ exclude: [focusGuards], ...(within.length > 0 && { include: within }) });
    const results = (await page.evaluate(`axe.run(${parts}, ${options})`)) as AxeResults;
    for (const { id, help, nodes } of results.violations)
      for (const { target, failureSummary } of nodes)
        found.push(`${theme}: ${id} (${help}) at ${target.join(' ')}: ${failureSummary}`);
  }
  return found;
};

export const desktop = { width: 1280, height: 800 };
const phone = { width: 320, height: 640 };

/** The elements of a page that do not fit on a narrow screen. */
export const overflow = async (
  page: Page,
  { dialog }: Pick<Place, 'dialog'>,
): Promise<string | undefined> => {
  await page.setViewportSize(phone);
  if (dialog === undefined) {
    const scrolls = '(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.documentElement)';
    return (await page.evaluate(scrolls)) ? 'scrolls sideways' : undefined;
  }
  const box = await page.getByRole('dialog').boundingBox();
  return box!.x + box!.width > phone.width ? 'is wider than the screen' : undefined;
};
