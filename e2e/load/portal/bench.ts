import { type Browser, type BrowserContextOptions, chromium, type Page } from '@playwright/test';
import { freePort } from '../../../deploy/local/ports.ts';
import { terminalReport } from '../../../deploy/local/report.ts';
import { chromiumArgs } from '../../portal/support/chromium-args.ts';
import { fillSignIn } from '../../portal/support/sign-in.ts';
import { provideChromium } from '../../runner/chromium.ts';
import { type BenchContext, makeHome, startBenchCluster, startBenchMysql } from '../driver.ts';
import { describeMachine, percentile, publish, type Table, whole } from '../report.ts';
import { scrolledPages, scrollLog, seedDeliveries } from './frames.ts';
import { observeVitals, readVitals, type Vitals, whenComplete } from './vitals.ts';

/** A lower mid-range phone has about a quarter of the speed of a laptop. */
const cpuSlowdown = 4;
/** "Slow 4G": 1.6 Mbit/s, 150 ms. */
const slowNetwork = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
const goals = { fcpMs: 1400, lcpMs: 2000, completeMs: null, cls: 0.01, inpMs: 80 };

/**
 * Measures the first page after sign-in with an empty cache, and work in the portal from there, in a slowed-down
 * browser.
 */
export const benchPortal = async (context: BenchContext): Promise<void> => {
  const { env, toolchain, onEnd, options, say } = context;
  const home = makeHome(onEnd);
  say('starting MySQL and the cluster …');
  const mysql = await startBenchMysql(home, toolchain.mysqld, onEnd);
  const port = await freePort();
  const bench = { home, env: { ...env, MYSQL_URL: mysql.url }, port, args: options.startArgs, onEnd };
  const { stack } = await startBenchCluster(bench);
  const executablePath = await provideChromium(terminalReport);
  const browser = await chromium.launch({ executablePath, args: chromiumArgs });
  onEnd(() => browser.close());
  const session = await signIn(browser, `${stack.portalUrl}/`, {
    email: stack.portalEmail,
    password: stack.portalPassword,
  });

  const rows: string[][] = [];
  // A company in which nothing has happened has first steps in place of its charts.
  await seedDeliveries(stack.mysqlUrl, session.companyId);
  for (const [name, network] of [
    ['CPU four times slower', null],
    ['and on slow 4G', slowNetwork],
  ] as const) {
    const measured: Vitals[] = [];
    for (let round = 0; round <= options.rounds; round++) {
      const cold = await browser.newContext({ ...session.storage, viewport: { width: 1280, height: 800 } });
      const page = await cold.newPage();
      const cdp = await cold.newCDPSession(page);
      await cdp.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown });
      if (network) {
        await cdp.send('Network.enable');
        await cdp.send('Network.emulateNetworkConditions', network);
      }
      await observeVitals(page);
      await page.goto(`${stack.portalUrl}/`);
      // Locating an element runs a script in the page, which would delay what is measured.
      await whenComplete(page);
      await page.waitForLoadState('networkidle');
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      const { fcpMs, lcpMs } = await readVitals(page);
      await work(page);
      const vitals = { ...(await readVitals(page)), fcpMs, lcpMs };
      if (round > 0) measured.push(vitals);
      say(`${round === 0 ? 'warm-up' : `round ${round}`}, ${name}: ${inWords(vitals)}`);
      await cold.close();
    }
    rows.push(...rowsOf(name, measured));
  }

  const opened = await openInnerPages(browser, stack.portalUrl, {
    ...session.storage,
    viewport: { width: 1280, height: 800 },
    cpuSlowdown,
    network: slowNetwork,
    rounds: options.rounds,
  });

  const log = await browser.newContext({ ...session.storage, viewport: { width: 1280, height: 800 } });
  const page = await log.newPage();
  const cdp = await log.newCDPSession(page);
  await page.goto(`${stack.portalUrl}/deliveries`);
  const { drawn, dropped } = await scrollLog(browser, page, cdp);
  say(`scrolling: ${drawn} frames, ${dropped} dropped`);

  const tables: Table[] = [
    await describeMachine({}),
    {
      title: 'The portal in a slow browser',
      texts: 2,
      columns: ['browser', 'measure', 'median', 'worst', 'goal'],
      rows,
    },
    {
      title: 'Pages opened from a link, empty cache, slow 4G',
      columns: ['page', 'complete, median', 'worst', 'goal'],
      rows: [...opened].map(([name, times]) => [
        name,
        `${whole(percentile(times, 0.5))} ms`,
        `${whole(Math.max(...times))} ms`,
        '≤ 1,800 ms',
      ]),
    },
    {
      title: 'Scrolling through a log of 10,000 deliveries',
      columns: ['pages', 'frames', 'dropped', 'goal'],
      rows: [[`${scrolledPages} of 200`, whole(drawn), whole(dropped), '0']],
    },
  ];
  publish('portal', options, howMeasured(options.rounds), tables);
};

const signIn = async (browser: Browser, url: string, member: { email: string; password: string }) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  await fillSignIn(page, member);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const storageState = await context.storageState();
  const answer = await context.request.get(`${url}api/v1/session`);
  const companyId: number = (await answer.json()).company.id;
  await context.close();
  return { storage: { storageState }, companyId };
};

/**
 * Performs common tasks one after another, without leaving the first document. After each input the page is left
 * alone for a moment, because locating the next element also runs in the page and would be measured.
 */
const work = async (page: Page): Promise<void> => {
  const navigation = page.getByRole('navigation', { name: 'Main' });
  const settle = (): Promise<void> => page.waitForTimeout(settleMs);
  const open = async (name: string): Promise<void> => {
    await navigation.getByRole('link', { name }).click();
    await settle();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  };
  const press = async (key: string): Promise<void> => {
    await page.keyboard.press(key);
    await settle();
  };
  await page.getByRole('radio', { name: '7 days' }).click();
  await settle();
  await open('API keys');
  await page.getByRole('button', { name: 'Create API key' }).first().click();
  await settle();
  const name = page.getByRole('dialog').getByLabel('Name');
  await name.waitFor();
  await page.keyboard.type('Website form', { delay: typingMs });
  await settle();
  await page.getByRole('checkbox').first().click();
  await settle();
  await press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await open('Deliveries');
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await settle();
  await page.getByRole('tab', { name: 'Causes' }).click();
  await settle();
  await open('Events');
  await press('Control+K');
  await page.getByRole('combobox', { name: /page|Search/ }).waitFor();
  await page.keyboard.type('subscr', { delay: typingMs });
  await settle();
  await press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Subscriptions' }).waitFor();
};

const settleMs = 600;
/** A hundred words a minute. */
const typingMs = 120;

const inWords = ({ fcpMs, lcpMs, completeMs, cls, shifted, inpMs, slowest }: Vitals): string =>
  `FCP ${whole(fcpMs)} ms, LCP ${whole(lcpMs)} ms, complete ${whole(completeMs)} ms, CLS ${cls.toFixed(3)}${cls > 0.01 ? ` (${shifted})` : ''}, INP ${whole(inpMs)} ms (${slowest})`;

const rowsOf = (name: string, measured: readonly Vitals[]): string[][] => {
  const row = (measure: string, key: keyof typeof goals, text: (value: number) => string): string[] => {
    const values = measured.map((one) => one[key]);
    const goal = goals[key];
    return [
      name,
      measure,
      text(percentile(values, 0.5)),
      text(Math.max(...values)),
      goal === null ? '' : `≤ ${text(goal)}`,
    ];
  };
  return [
    row('FCP of the first page, empty cache', 'fcpMs', (ms) => `${whole(ms)} ms`),
    row('LCP of the first page, empty cache', 'lcpMs', (ms) => `${whole(ms)} ms`),
    row('first page complete, empty cache', 'completeMs', (ms) => `${whole(ms)} ms`),
    row('INP of all interactions', 'inpMs', (ms) => `${whole(ms)} ms`),
    row('CLS of all pages', 'cls', (shift) => shift.toFixed(3)),
  ];
};

const howMeasured = (rounds: number): string => `
Chromium with an empty cache and a session opens the overview at ${cpuSlowdown}× CPU slow-down, and is then used as a person does. ${rounds} rounds after a
warm-up. Slow 4G is 1.6 Mbit/s and 150 ms. A page is complete when it waits for no more answers. Frames are those of the trace
while the wheel turns at full CPU speed, on ${scrolledPages} pages of the log.
`;

interface SlowBrowser {
  readonly cpuSlowdown: number;
  readonly network: {
    readonly offline: boolean;
    readonly latency: number;
    readonly downloadThroughput: number;
    readonly uploadThroughput: number;
  } | null;
}

/** Pages that people open from a link or a bookmark, below the portal's URL. */
const innerPages = ['subscriptions', 'deliveries', 'events', 'keys', 'audit', 'team'] as const;

/** Opens each page with an empty cache in every round. @returns when it was complete, in ms, by page. */
const openInnerPages = async (
  browser: Browser,
  portalUrl: string,
  {
    cpuSlowdown,
    network,
    rounds,
    ...options
  }: SlowBrowser & BrowserContextOptions & { readonly rounds: number },
): Promise<ReadonlyMap<string, readonly number[]>> => {
  const measured = new Map<string, number[]>(innerPages.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++)
    for (const [name, times] of measured) {
      const context = await browser.newContext(options);
      const page = await context.newPage();
      const cdp = await context.newCDPSession(page);
      await cdp.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown });
      if (network) {
        await cdp.send('Network.enable');
        await cdp.send('Network.emulateNetworkConditions', network);
      }
      await observeVitals(page);
      await page.goto(`${portalUrl}/${name}`);
      await whenComplete(page);
      // The first round warms the server up.
      if (round > 0) times.push((await readVitals(page)).completeMs);
      await context.close();
    }
  return measured;
};
