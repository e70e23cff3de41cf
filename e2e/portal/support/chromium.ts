import { cleanUp } from '@causeway/runtime/testing';
import { type Browser, chromium } from '@playwright/test';
import { inject } from 'vitest';
import { chromiumArgs } from './chromium-args.ts';

/** The browser for the tests of a file; each test opens its own contexts in it. */
export const openChromium = async (): Promise<Browser> => {
  const browser = await chromium.launch({ executablePath: inject('chromium'), args: chromiumArgs });
  cleanUp(() => browser.close());
  return browser;
};
