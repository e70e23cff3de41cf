import type { Browser, BrowserContextOptions } from '@playwright/test';
import { observeVitals, readVitals, whenComplete } from './vitals.ts';

export interface SlowBrowser {
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
export const openInnerPages = async (
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
