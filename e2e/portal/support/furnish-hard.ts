import { eventTypes } from '@causeway/proto';
import type { Team } from '../../api/support/portal.ts';
import type { World } from '../../api/support/world.ts';

/** Names that people may choose, and that no layout may suffer from. */
export const hardNames = [
  'The accounting department’s bridge from the new CRM to the old ledger, second floor, do not remove',
  `🧾🚀 Rechnungen 👩🏽‍💻 → Buchhaltung ❤️‍🔥 ${'✨'.repeat(20)}`,
  'نظام المحاسبة المركزي لإدارة العملاء والفواتير في الفرع الرئيسي للشركة',
  'Donaudampfschifffahrtsgesellschaftskapitänsmützenherstellervereinigung',
  'Billing',
] as const;

/** A company with many rows in every list: names of all kinds, some subscriptions off, some failing. */
export const furnishHard = async (world: World, team: Team, count = 40): Promise<void> => {
  const { companyId, owner } = team;
  const ask = async (path: string, body: object): Promise<void> => {
    const { status, text } = await owner.browser.ask('POST', path, body);
    if (status >= 300) throw new Error(`POST ${path} answered ${status}: ${text}`);
  };
  for (let at = 0; at < count; at++) {
    const name = [...`${at + 1} ${hardNames[at % hardNames.length]}`].slice(0, 90).join('');
    await ask('/keys', { name, scopes: ['integrations:read', 'events:read'] });
    await ask('/subscriptions', {
      name,
      url: `https://hooks.example.com/${at}/${'a-very-long-path-of-a-receiver/'.repeat(at % 3)}`,
      eventTypes: eventTypes.slice(0, 1 + (at % eventTypes.length)),
      enabled: false,
    });
  }
  const ofThese = "company_id = ? AND url LIKE 'https://hooks.example.com/%'";
  await world.sql(
    `UPDATE subscriptions SET auto_disabled = 1, disabled_reason = '20 consecutive failures',
       disabled_utc = UTC_TIMESTAMP() - INTERVAL 3 HOUR
     WHERE ${ofThese} ORDER BY subscription_id LIMIT 6`,
    [companyId],
  );
  await world.sql(
    `UPDATE subscriptions SET enabled = 1, disabled_utc = NULL
     WHERE ${ofThese} AND auto_disabled = 0 ORDER BY subscription_id DESC LIMIT 20`,
    [companyId],
  );
  await world.sql(
    `UPDATE delivery_queues SET consecutive_failures = 7 WHERE company_id = ? AND subscription_id IN
       (SELECT subscription_id FROM subscriptions WHERE ${ofThese} AND enabled = 1)
     ORDER BY subscription_id LIMIT 2`,
    [companyId, companyId],
  );
  // A delivery of each of the company's events to each of them, in every state but waiting.
  await world.sql(
    `INSERT IGNORE INTO deliveries (company_id, event_id, subscription_id, replay_id, created_utc, event_type, state,
       attempts, due_utc, last_status, last_error, updated_utc)
     SELECT e.company_id, e.event_id, s.subscription_id, 0, e.created_utc, e.type,
       ELT(1 + (e.event_id + s.subscription_id) % 4, 'succeeded', 'failed', 'held', 'dropped'),
       1 + s.subscription_id % 10, NULL, IF(s.subscription_id % 2, 503, NULL),
       IF(s.subscription_id % 2, 'status', 'timeout'), UTC_TIMESTAMP()
     FROM events AS e JOIN subscriptions AS s ON s.company_id = e.company_id
     WHERE e.company_id = ? AND s.url LIKE 'https://hooks.example.com/%'`,
    [companyId],
  );
};
