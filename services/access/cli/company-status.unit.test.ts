import { expect, test } from 'vitest';
import { companyStatus } from './print.ts';

const healthy = {
  subscription_id: 1,
  origin: 'https://a.example.com',
  enabled: true,
  disabled_reason: null,
  consecutive_failures: 0,
  waiting: 0,
  held: 0,
  missed: 0,
  succeeded_24h: 9,
  failed_24h: 0,
  last_success_utc: '2026-03-01T09:29:00.000Z',
  next_due_utc: null,
  oldest: null,
};
const status = {
  company_id: 17,
  now_utc: '2026-03-01T09:30:00.000Z',
  events: { waiting: 0, oldest_utc: null },
  total: 1,
  subscriptions: [healthy],
};

test('a company whose deliveries are in time has none that waits', () => {
  expect(companyStatus(status)).toBe(`Company 17 at 2026-03-01 09:30 UTC
No event waits for its first attempt.

SUBSCRIPTION  RECEIVER               STATE    WAITING  HELD  MISSED  NEXT TURN  LAST SUCCESS (UTC)  24 H
1             https://a.example.com  healthy  0        0     0       –          2026-03-01 09:29    9 succeeded, 0 failed

No delivery waits.`);
  expect(companyStatus({ ...status, total: 0, subscriptions: [] })).toMatch(/\nIt has no subscription\.$/);
});

test('late deliveries show whose receiver fails, how, and since when', () => {
  const late = {
    ...healthy,
    consecutive_failures: 7,
    waiting: 3,
    next_due_utc: '2026-03-01T09:35:00.000Z',
    oldest: {
      event_id: 4711,
      created_utc: '2026-03-01T06:30:00.000Z',
      due_utc: '2026-03-01T09:29:30.000Z',
      attempts: 7,
      last_status: 503,
      last_error: 'status',
    },
  };
  const off = { ...healthy, subscription_id: 2, enabled: false, disabled_reason: 'HTTP 410', held: 4 };
  const events = { waiting: 2, oldest_utc: '2026-03-01T09:20:00.000Z' };
  const text = companyStatus({ ...status, events, total: 60, subscriptions: [late, off] });
  expect(text).toContain('Events before their first attempt: 2, the oldest 10 min old');
  expect(text).toMatch(/1 {13}https:\/\/a\.example\.com {2}failing, 7 in a row +3 +0 +0 +in 5 min/);
  expect(text).toMatch(/disabled: HTTP 410 +0 +4/);
  expect(text).toContain('… and 58 more');
  expect(text).toMatch(/1 +4711 +3 h +7 +30 s late +503 status$/);
});
