import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DeliveryWorld, makeEvents, steadyEvents, type Tenant } from '../deliveries/world.ts';
import { percentile, type Table, whole } from '../report.ts';

const largeCompanies = 10;
const subscriptionsEach = 1_000;
const eventsPerSecond = 50;
const maxSeconds = 120;

/**
 * Measures what one event of each of ten companies with a thousand subscriptions does to others: how long the
 * deliveries of small companies take meanwhile, until when all have arrived, and how much memory a dispatcher needs.
 */
export const measureLargeFanOut = async (
  world: DeliveryWorld,
  healthy: readonly Tenant[],
  say: (line: string) => void,
): Promise<Table> => {
  const large = await world.tenants(largeCompanies);
  for (const tenant of large) {
    await world.subscribe(tenant, '/large', ['client.created']);
    await copySubscription(world, tenant.id);
  }
  const arrived = async (): Promise<number> =>
    world.number(
      `SELECT COUNT(*) AS n FROM deliveries WHERE state = 'succeeded' AND company_id IN (${large.map(({ id }) => id)})`,
    );
  const memoryMib = (): number => {
    const pids = [...world.processes].filter(([name]) => name.startsWith('dispatcher')).map(([, pid]) => pid);
    return Math.max(...pids.map(residentMib));
  };
  const rows: string[][] = [];
  const row = async (what: string, run: () => Promise<string>): Promise<void> => {
    await world.reset();
    const [took] = await Promise.all([run(), steadyEvents(world.bus, healthy, eventsPerSecond, 12)]);
    // The last deliveries are under way.
    await sleep(1_500);
    const { elapsedMs } = await world.count();
    const at = (share: number) => `${whole(percentile(elapsedMs, share))} ms`;
    rows.push([what, took, at(0.5), at(0.99), at(1), `${whole(memoryMib())} MiB`]);
    say(`${what}: ${rows.at(-1)!.slice(1).join(', ')}`);
  };
  await row('alone', async () => '–');
  await row(
    `beside ${largeCompanies} events with ${whole(subscriptionsEach)} subscriptions each`,
    async () => {
      await sleep(1_000);
      const startedMs = performance.now();
      const events = makeEvents(world.bus, large, {
        width: largeCompanies,
        mayGoOn: (made) => made < largeCompanies,
      });
      await sleep(100);
      await events.stop();
      const all = largeCompanies * subscriptionsEach;
      while ((await arrived()) < all) {
        if (performance.now() - startedMs > maxSeconds * 1000)
          throw new Error(`${await arrived()} of ${all} arrived`);
        await sleep(50);
      }
      return `${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
    },
  );
  return {
    title: 'Beside events with a thousand subscriptions',
    columns: ['', 'all arrived after', 'others’ p50', 'p99', 'most', 'memory of a dispatcher'],
    rows,
  };
};

/** As rows, because the interface makes them one by one. */
const copySubscription = async (world: DeliveryWorld, companyId: number): Promise<void> => {
  const copies = JSON.stringify(Array.from({ length: subscriptionsEach - 1 }, (_, at) => at));
  await world.write(
    `INSERT INTO subscriptions (company_id, url, event_types, secret, created_utc, updated_utc)
     SELECT s.company_id, s.url, s.event_types, s.secret, s.created_utc, s.updated_utc
     FROM subscriptions AS s JOIN JSON_TABLE(?, '$[*]' COLUMNS (n INT PATH '$')) AS k WHERE s.company_id = ?`,
    [copies, companyId],
  );
  await world.write(
    `INSERT IGNORE INTO delivery_queues (company_id, subscription_id)
     SELECT company_id, subscription_id FROM subscriptions WHERE company_id = ?`,
    [companyId],
  );
  await world.write(
    'UPDATE event_sequences SET subscriptions_version = subscriptions_version + 1 WHERE company_id = ?',
    [companyId],
  );
};

const residentMib = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

export const howLargeFanOut = `
Beside events with a thousand subscriptions: ${largeCompanies} companies with ${subscriptionsEach} subscriptions each have one event at the same moment, while the
healthy companies get ${eventsPerSecond} events a second. The memory is the most that a dispatcher has had until then (VmHWM).
`;
