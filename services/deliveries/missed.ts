import { acrossTenants, type Log, type Metric, type Metrics, rowList } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';

export interface WaitingEvent {
  readonly company_id: number;
  readonly subscription_id: number;
  readonly created_utc: Date;
}

export const noteMissed = async <DB>(db: Kysely<DB>, events: readonly WaitingEvent[]): Promise<void> => {
  if (events.length === 0) return;
  await sql`
    INSERT INTO missed_events (company_id, subscription_id, missed, since_utc)
    VALUES ${rowList(countsOf(events))}
    ON DUPLICATE KEY UPDATE missed = missed_events.missed + VALUES(missed),
      since_utc = LEAST(missed_events.since_utc, VALUES(since_utc))`.execute(
    acrossTenants(db, 'a service counts missed events of many companies in one batch'),
  );
};

export const takeBackMissed = async <DB>(db: Kysely<DB>, events: readonly WaitingEvent[]): Promise<void> => {
  if (events.length === 0) return;
  const all = acrossTenants(db, 'a service counts missed events of many companies in one batch');
  const counts = countsOf(events);
  const { rows } = await sql<{ subscription_id: number }>`
    SELECT subscription_id FROM missed_events FORCE INDEX (PRIMARY)
    WHERE (company_id, subscription_id) IN (${rowList(counts.map(([company, subscription]) => [company, subscription]))})
    FOR UPDATE`.execute(all);
  const counted = new Set(rows.map(({ subscription_id }) => subscription_id));
  const countedBefore = counts.filter(([, subscription]) => counted.has(subscription));
  if (countedBefore.length === 0) return;
  // The rows exist and are locked, so nothing is inserted.
  await sql`
    INSERT INTO missed_events (company_id, subscription_id, missed, since_utc) VALUES ${rowList(countedBefore)}
    ON DUPLICATE KEY UPDATE missed = missed_events.missed - LEAST(missed_events.missed, VALUES(missed))`.execute(
    all,
  );
};

const countsOf = (events: readonly WaitingEvent[]) =>
  [...bySubscription(events).values()]
    .map((missed) => ({
      ...missed[0]!,
      missed: missed.length,
      sinceMs: Math.min(...missed.map(({ created_utc }) => created_utc.getTime())),
    }))
    .sort((a, b) => a.company_id - b.company_id || a.subscription_id - b.subscription_id)
    .map((one) => [one.company_id, one.subscription_id, one.missed, new Date(one.sinceMs)] as const);

const bySubscription = (events: readonly WaitingEvent[]) =>
  Map.groupBy(events, ({ company_id, subscription_id }) => `${company_id}.${subscription_id}`);

/** Logs each subscription that misses events once a minute. Call the report after the commit. */
export const createMissedReport = ({
  log,
  metrics,
  metric,
}: {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly metric: Metric<'counter', readonly []>;
}): ((events: readonly WaitingEvent[]) => void) => {
  const total = metrics.counter(metric).cell();
  let logged = new Set<string>();
  let sinceMs = 0;
  return (events) => {
    total.value += events.length;
    if (performance.now() - sinceMs > logEveryMs) {
      logged = new Set();
      sinceMs = performance.now();
    }
    for (const [key, missed] of bySubscription(events)) {
      if (logged.has(key)) continue;
      logged.add(key);
      const { company_id: companyId, subscription_id: subscriptionId } = missed[0]!;
      log.warn(
        { companyId, subscriptionId, events: missed.length },
        'events missed: quota of waiting deliveries reached',
      );
    }
  };
};

const logEveryMs = 60_000;
