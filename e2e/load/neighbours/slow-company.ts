import { setTimeout as sleep } from 'node:timers/promises';
import { type DeliveryWorld, makeEvents, type Tenant } from '../deliveries/world.ts';
import { percentile, type Table, whole } from '../report.ts';

const slowSubscriptions = 950;
const slowEvents = 43;
const slowMs = 3_000;
const retriers = 20;
const healthyCount = 20;
const firstsPerSecond = 50;
const seconds = 12;

/**
 * Measures the effect of one company with many slow subscriptions and a backlog on other companies: how late their
 * retries are, and how long their first attempts take. The same is measured before the slow company has deliveries.
 */
export const measureSlowCompany = async (
  world: DeliveryWorld,
  say: (line: string) => void,
): Promise<Table> => {
  const [slow, ...others] = (await world.tenants(1 + 2 * retriers + healthyCount)) as [Tenant, ...Tenant[]];
  const healthy = others.slice(2 * retriers);
  for (const tenant of healthy) await world.subscribe(tenant, `/counted/${tenant.id}`, ['client.created']);
  for (const tenant of others.slice(0, 2 * retriers))
    await world.subscribe(tenant, `/retried/${tenant.id}?fail=1`, ['client.created']);
  for (let at = 0; at < slowSubscriptions; at++)
    await world.subscribe(slow, `/slow/${at}?delay=${slowMs}`, ['client.created']);

  const rows: string[][] = [];
  const measure = async (what: string, failing: readonly Tenant[]): Promise<void> => {
    await world.reset();
    const [late] = await Promise.all([retryLatenessMs(world, failing), makeFirsts(world, healthy)]);
    const { elapsedMs } = await world.count();
    const at = (values: readonly number[], share: number) => `${whole(percentile(values, share))} ms`;
    rows.push([what, at(late, 0.5), at(late, 1), at(elapsedMs, 0.5), at(elapsedMs, 0.99), at(elapsedMs, 1)]);
    say(`${what}: ${rows.at(-1)!.slice(1).join(', ')}`);
  };
  await measure('alone', others.slice(0, retriers));
  const backlog = makeEvents(world.bus, [slow], { width: 1, mayGoOn: (made) => made < slowEvents });
  while (backlog.made() < slowEvents) await sleep(10);
  await backlog.stop();
  const isFannedOut = `SELECT COUNT(*) AS n FROM event_outbox WHERE company_id = ${slow.id}`;
  while ((await world.number(isFannedOut)) > 0) await sleep(50);
  const waits = await world.number(
    `SELECT COUNT(*) AS n FROM deliveries WHERE company_id = ${slow.id} AND state = 'waiting'`,
  );
  await measure(
    `beside ${whole(slowSubscriptions)} subscriptions that answer after ${slowMs / 1000} s, ${whole(waits)} deliveries waiting`,
    others.slice(retriers, 2 * retriers),
  );
  return {
    title: 'Beside one company’s slow subscriptions',
    columns: ['', 'retry late p50', 'most', 'first attempt p50', 'p99', 'most'],
    rows,
  };
};

/** Creates one event for each company, spread evenly; the receivers refuse the first attempt and accept the second. */
const retryLatenessMs = async (
  world: DeliveryWorld,
  tenants: readonly Tenant[],
): Promise<readonly number[]> => {
  for (const tenant of tenants) {
    const event = makeEvents(world.bus, [tenant], { width: 1, mayGoOn: (made) => made < 1 });
    while (event.made() < 1) await sleep(2);
    await event.stop();
    await sleep((seconds * 1000) / tenants.length);
  }
  const late = (id: number, what: string) => `
    SELECT ${what} AS n FROM delivery_attempts AS a
    JOIN delivery_attempts AS b USING (company_id, event_id, subscription_id, replay_id)
    WHERE a.company_id = ${id} AND a.attempt = 1 AND b.attempt = 2`;
  const all: number[] = [];
  for (const { id } of tenants) {
    while ((await world.number(late(id, 'COUNT(*)'))) === 0) await sleep(100);
    const tookUs = 'TIMESTAMPDIFF(MICROSECOND, a.next_attempt_utc, b.started_utc)';
    all.push(Math.max(0, (await world.number(late(id, tookUs))) / 1000));
  }
  return all;
};

const makeFirsts = async ({ bus }: DeliveryWorld, tenants: readonly Tenant[]): Promise<void> => {
  const startedMs = performance.now();
  const events = makeEvents(bus, tenants, {
    width: 4,
    mayGoOn: (made) => made < ((performance.now() - startedMs) / 1000) * firstsPerSecond,
  });
  await sleep(seconds * 1000);
  await events.stop();
  // The last deliveries are under way.
  await sleep(1_500);
};

export const howSlowCompany = `
Beside one company’s slow subscriptions: ${slowSubscriptions} subscriptions of one company, whose receiver answers 200 after ${slowMs / 1000} s, with
${slowEvents} events to each waiting; meanwhile ${retriers} other companies have one event each, refused once, and ${healthyCount} others get
${firstsPerSecond} events a second, ${seconds} s long. A retry's lateness is the time from when it was due to the start of its attempt, as
recorded in the rows of the attempts.
`;
