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

/** The cluster and a browser, for the tests of one file. */
export interface Portal {
  readonly world: World;
  readonly browser: Browser;
  /**
   * Opens a page in a browser context of its own, signed in as this member, or signed out. Console errors and policy
   * violations fail the test at its end.
   */
  open(member?: SignedIn, options?: PageOptions): Promise<Page>;
  /** Creates a company for this test and signs its owner in. */
  openOwner(options?: PageOptions): Promise<{ readonly team: Team; readonly page: Page }>;
}

export interface PageOptions extends BrowserContextOptions {
  /** Additional console messages that the test causes. */
  readonly mayLog?: RegExp;
  /** Whether the code of all pages is loaded soon after the first input. It takes a sixth of the browser's processor time. */
  readonly loadsAhead?: boolean;
}

/** A member who signed in elsewhere; the page takes over the session. */
export interface SignedIn {
  readonly browser: { cookie(): string | undefined };
}

export const openPortal = async (): Promise<Portal> => {
  const world = await openWorld();
  const browser = await openChromium();
  const open: Portal['open'] = async (member, { mayLog, loadsAhead = false, ...options } = {}) => {
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
    if (!loadsAhead) await context.addInitScript(savesData);
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

const savesData = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })";

/** Far above the duration of any action on an idle machine, and below the timeout of a test. */
const actionTimeoutMs = 45_000;

/** Expectations have the same timeout as actions. */
export const see = expect.configure({ timeout: actionTimeoutMs });

const signIn = async (context: BrowserContext, { baseUrl }: World, member?: SignedIn): Promise<void> => {
  const value = member?.browser.cookie();
  if (value === undefined) return;
  await context.addCookies([{ name: 'causeway', value, url: baseUrl, httpOnly: true, sameSite: 'Strict' }]);
  // The pages set this at sign-in; without it, they do not ask for the session.
  await context.addInitScript("if (origin !== 'null') localStorage.setItem('causeway.signed-in', '1')");
};

/** Prints the accessibility tree of the pages of a failed test. */
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

/** The text in the clipboard. */
export const clipboard = (page: Page): Promise<string> =>
  page.evaluate('navigator.clipboard.readText()') as Promise<string>;
