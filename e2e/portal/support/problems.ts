import type { BrowserContext, ConsoleMessage } from '@playwright/test';

/** Collects what no page may do: errors in the console, and violations of the content security policy. */
export const watchProblems = async (context: BrowserContext, mayLog?: RegExp): Promise<readonly string[]> => {
  const problems: string[] = [];
  await context.exposeBinding('sayBreach', ({ page }, breach: string) => {
    problems.push(`${page.url()}: ${breach} violated the content security policy`);
  });
  await context.addInitScript(`document.addEventListener('securitypolicyviolation', (event) =>
    sayBreach(event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sourceFile + ':' + event.lineNumber))`);
  context.on('weberror', (error) => problems.push(`${error.page()?.url()}: ${error.error().stack}`));
  context.on('console', (message) => {
    if (message.type() === 'error' && !isRefusal(message) && !mayLog?.test(message.text()))
      problems.push(`${message.page()?.url()}: ${message.text()} (${message.location().url})`);
  });
  return problems;
};

/**
 * The browser logs every answer above 399. Refusals by the interface are expected, and so is a 503: a starved machine
 * may not count a request in time (contract, "Rate limits"), and pages read again.
 */
const isRefusal = (message: ConsoleMessage): boolean =>
  /^Failed to load resource.*status of (4\d\d|503)/.test(message.text()) &&
  message.location().url.includes('/portal/api/');
