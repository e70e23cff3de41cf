import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  expect,
  type Page,
} from '@playwright/test';
import { onTestFinished } from 'vitest';
import { clientAddress, openTeam, type Team } from '../../api/support/portal.ts';
import { openWorld, type World } from '../../api/support/world.ts';
import { openChromium } from './chromium.ts';
import { watchProblems } from './problems.ts';

/** The cluster and a browser, for one file's tests. */
export interface Portal {
  readonly world: World;
  readonly browser: Browser;
  /** A window of its own, signed in as a member or as nobody. What no page may do fails the test at its end. */
  open(member?: SignedIn, options?: WindowOptions): Promise<Page>;
  /** A company of this test's own, with its owner at the portal. */
  openOwner(options?: WindowOptions): Promise<{ readonly team: Team; readonly page: Page }>;
}

export interface WindowOptions extends BrowserContextOptions {
  /** What the console may say besides, as the test causes it. */
  readonly mayLog?: RegExp;
}

/** A member who has signed in elsewhere; the window takes the session over. */
export interface SignedIn {
  readonly browser: { cookie(): string | undefined };
}

export const openPortal = async (): Promise<Portal> => {
  const world = await openWorld();
  const browser = await openChromium();
  const open: Portal['open'] = async (member, { mayLog, ...options } = {}) => {
    const context = await browser.newContext({
      baseURL: `${world.baseUrl}/portal/`,
      viewport: { width: 1280, height: 800 },
      permissions: ['clipboard-read', 'clipboard-write'],
      reducedMotion: 'reduce',
      extraHTTPHeaders: { 'x-forwarded-for': clientAddress() },
      ...options,
    });
    context.setDefaultTimeout(actionTimeoutMs);
    await signIn(context, world, member);
    const problems = await watchProblems(context, mayLog);
    onTestFinished(async ({ task }) => {
      if (task.result?.state === 'fail') await showPages(context);
      await context.close();
      if (problems.length > 0) throw new Error(`The pages had problems:\n${problems.join('\n')}`);
    });
    return context.newPage();
  };
  return {
    world,
    browser,
    open,
    openOwner: async (options) => {
      const team = await openTeam(world);
      return { team, page: await open(team.owner, options) };
    },
  };
};

/** Far above what anything takes on an idle machine, and below a test's own limit. */
const actionTimeoutMs = 15_000;

/** Expectations wait as long as actions do. */
export const see = expect.configure({ timeout: actionTimeoutMs });

const signIn = async (context: BrowserContext, { baseUrl }: World, member?: SignedIn): Promise<void> => {
  const value = member?.browser.cookie();
  if (value === undefined) return;
  await context.addCookies([{ name: 'causeway', value, url: baseUrl, httpOnly: true, sameSite: 'Strict' }]);
  // As the pages note it when somebody signs in by them; strangers are not asked about.
  await context.addInitScript("if (origin !== 'null') localStorage.setItem('causeway.signed-in', '1')");
};

/** What the pages of a failed test looked like to somebody who hears them. */
const showPages = async (context: BrowserContext): Promise<void> => {
  for (const page of context.pages()) {
    const seen = await page.locator('body').ariaSnapshot({ timeout: 1000 }).catch(String);
    process.stderr.write(`${page.url()}\n${seen}\n`);
  }
};

/** Opens a page of the portal and waits for its heading. @param path below `/portal/`. */
export const visit = async (page: Page, path: string, heading: string | RegExp): Promise<void> => {
  await page.goto(path);
  await see(page.getByRole('heading', { level: 1, name: heading })).toBeVisible();
};

/** What the clipboard holds. */
export const clipboard = (page: Page): Promise<string> =>
  page.evaluate('navigator.clipboard.readText()') as Promise<string>;
