import { type Browser, chromium } from '@playwright/test';
import { inject } from 'vitest';
import { chromiumArgs } from './chromium-args.ts';

let browser: Promise<Browser> | undefined;

/**
 * The browser for all files of a worker, which keeps its modules; each test opens its own contexts in it. Playwright
 * ends it with the worker.
 */
export const openChromium = (): Promise<Browser> => {
  browser ??= launch();
  return browser;
};

const launch = async (): Promise<Browser> => {
  const launched = await chromium.launch({ executablePath: inject('chromium'), args: chromiumArgs });
  // One that crashed fails the tests of its file, and not those of the next.
  launched.on('disconnected', () => {
    browser = undefined;
  });
  return launched;
};
