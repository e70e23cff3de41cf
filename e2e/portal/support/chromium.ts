import { cleanUp } from '@causeway/runtime/testing';
import { type Browser, chromium } from '@playwright/test';
import { inject } from 'vitest';

/** Nothing a browser asks of the world by itself; no sandbox, as tests may run as root. */
export const chromiumArgs = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** The browser of a file's tests; each test opens contexts of its own in it. */
export const openChromium = async (): Promise<Browser> => {
  const browser = await chromium.launch({ executablePath: inject('chromium'), args: chromiumArgs });
  cleanUp(() => browser.close());
  return browser;
};
