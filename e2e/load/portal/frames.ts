import type { Browser, CDPSession, Page } from '@playwright/test';
import { createConnection } from 'mysql2/promise';

/** What a person sees while they scroll. */
interface Frames {
  readonly drawn: number;
  readonly dropped: number;
}

/** Gives the company 10,000 deliveries of 100 subscriptions, so that its log has 200 pages. */
export const seedDeliveries = async (mysqlUrl: string, companyId: number): Promise<void> => {
  const db = await createConnection({ uri: mysqlUrl, timezone: 'Z' });
  try {
    await db.query(
      `INSERT INTO deliveries (company_id, event_id, subscription_id, replay_id, created_utc, event_type, state,
         attempts, due_utc, last_status, last_error, updated_utc)
       WITH RECURSIVE hundred (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM hundred WHERE n < 100)
       SELECT ?, 1000000 + a.n, b.n, 0, UTC_TIMESTAMP(), 'client.created',
         ELT(1 + (a.n + b.n) % 4, 'succeeded', 'failed', 'held', 'dropped'), 1 + b.n % 10, NULL, 503, 'status',
         UTC_TIMESTAMP()
       FROM hundred AS a, hundred AS b`,
      [companyId],
    );
    await db.query(
      `INSERT INTO delivery_minutes (company_id, subscription_id, minute_utc, succeeded)
       VALUES (?, 1, DATE_FORMAT(UTC_TIMESTAMP() - INTERVAL 1 HOUR, '%Y-%m-%d %H:%i:00'), 2500)`,
      [companyId],
    );
  } finally {
    await db.end();
  }
};

/** Pages of the log that are scrolled from top to bottom. */
export const scrolledPages = 10;
const pixelsPerSecond = 2000;

/** Walks through pages of the delivery log, and counts frames while each scrolls. */
export const scrollLog = async (browser: Browser, page: Page, cdp: CDPSession): Promise<Frames> => {
  let drawn = 0;
  let dropped = 0;
  const rows = page.getByRole('table', { name: 'Deliveries' }).getByRole('row');
  const older = page.getByRole('button', { name: 'Older' });
  for (let at = 0; at < scrolledPages; at++) {
    await rows.nth(1).waitFor();
    await page.waitForLoadState('networkidle');
    await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline.frame'] });
    await cdp.send('Input.synthesizeScrollGesture', {
      x: 700,
      y: 500,
      yDistance: -4000,
      speed: pixelsPerSecond,
      gestureSourceType: 'mouse',
    });
    const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as Trace;
    drawn += traceEvents.filter(({ name }) => name === 'DrawFrame').length;
    dropped += traceEvents.filter(
      ({ name, args }) => name === 'DroppedFrame' && !args?.hasPartialUpdate,
    ).length;
    await older.click();
  }
  return { drawn, dropped };
};

interface Trace {
  readonly traceEvents: readonly {
    readonly name: string;
    readonly args?: { readonly hasPartialUpdate?: boolean };
  }[];
}
