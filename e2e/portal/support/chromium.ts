import { cleanUp } from '@causeway/runtime/testing';
import { type Browser, chromium } from '@playwright/test';
import { inject } from 'vitest';
import { chromiumArgs } from './chromium-args.ts';

/** The browser of a file's tests; each test opens contexts of its own in it. */
export const openChromium = async (): Promise<Browser> => {
  const browser = await chromium.launch({ executablePath: inject('chromium'), args: chromiumArgs });
  cleanUp(() => browser.close());
  return browser;
};
