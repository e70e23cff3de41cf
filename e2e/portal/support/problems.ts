import type { BrowserContext, ConsoleMessage } from '@playwright/test';

/** Watches a context for what no page may do: errors in the console, and breaches of the content policy. */
export const watchProblems = async (context: BrowserContext, mayLog?: RegExp): Promise<readonly string[]> => {
  const problems: string[] = [];
  await context.exposeBinding('sayBreach', ({ page }, breach: string) => {
    problems.push(`${page.url()}: the content policy was breached by ${breach}`);
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

/** The browser itself logs every answer above 399; refusals of the interface are part of the portal's life. */
const isRefusal = (message: ConsoleMessage): boolean =>
  /^Failed to load resource.*status of 4\d\d/.test(message.text()) &&
  message.location().url.includes('/portal/api/');
