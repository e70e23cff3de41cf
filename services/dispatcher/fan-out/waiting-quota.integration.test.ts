import { type EventType, outboxLeaseMs } from '@causeway/proto';
import type { Database } from '@causeway/runtime';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Tables, tenantTables } from '../tables.ts';
import { openWorld, type Subscription, type World } from '../testing/boot.ts';
import { fanOutEvents } from './fan-out-events.ts';

let world: World;
let db: Database<Tables>;
const now = () => new Date();
const query = <Row>(text: string): Promise<Row[]> => world.database.query<Row>(text);

beforeEach(async () => {
  world = await openWorld();
  db = world.database.connect<Tables>({ tenantTables, poolSize: 8 });
});

const subscribe = (company_id: number, event_types: readonly EventType[] = ['client.created']) =>
  world.subscribe('http://127.0.0.1:9/', { company_id, event_types: JSON.stringify(event_types) });

/** As if their messages had come to this process. */
const arrived = async (subscription: Subscription, count: number, type: EventType = 'client.created') =>
  (await world.deliver(subscription, count, { by: 'outbox', type })).map((event) => ({
    ...event,
    type,
    leaseMs: event.created_utc.getTime() + outboxLeaseMs,
  }));
const fanOut = async (
  subscription: Subscription,
  waitingQuota: number,
  count: number,
  type: EventType = 'client.created',
) => fanOutEvents(db, await arrived(subscription, count, type), { now, waitingQuota });

const company = 5001;
const countOf = async (text: string): Promise<number> =>
  Number((await query<{ count: number }>(`SELECT ${text} AS count`))[0]!.count);
const waiting = () => countOf("(SELECT COUNT(*) FROM deliveries WHERE state = 'waiting')");
const waitingOf = ({ subscription_id: id }: Subscription) =>
  countOf(`(SELECT COUNT(*) FROM deliveries WHERE state = 'waiting' AND subscription_id = ${id})`);
const missedOf = ({ subscription_id: id }: Subscription) =>
  countOf(`COALESCE((SELECT missed FROM missed_events WHERE subscription_id = ${id}), 0)`);
const endAll = () => query("UPDATE deliveries SET state = 'succeeded', due_utc = NULL");

describe('QUOTA_WAITING_DELIVERIES', () => {
  test('A company never has more waiting deliveries than its quota, however many write at once', async () => {
    await subscribe(company);
    const events = await arrived(await subscribe(company), 400);
    let most = 0;
    let writing = true;
    const watching = (async () => {
      while (writing) most = Math.max(most, await waiting());
    })();
    const parts = Array.from({ length: 16 }, (_, at) => events.slice(25 * at, 25 * (at + 1)));
    await Promise.all(parts.map((part) => fanOutEvents(db, part, { now, waitingQuota: 100 })));
    writing = false;
    await watching;
    expect([most <= 100, await waiting()]).toEqual([true, 100]);
    expect(await countOf('(SELECT SUM(missed) FROM missed_events)')).toBe(800 - 100);
    expect(await countOf('(SELECT COUNT(*) FROM events)')).toBe(400);
    expect(await countOf('(SELECT COUNT(*) FROM event_outbox)')).toBe(0);
  });

  test('The subscription with the longest backlog misses events; another one of the company does not', async () => {
    const long = await subscribe(company);
    const short = await subscribe(company, ['lead.created']);
    await fanOut(long, 50, 60);
    expect([await waitingOf(long), await missedOf(long)]).toEqual([50, 10]);
    await fanOut(short, 50, 10, 'lead.created');
    expect([await waitingOf(short), await missedOf(short)]).toEqual([10, 0]);
    expect([await waitingOf(long), await missedOf(long)]).toEqual([40, 20]);
  });

  test('Deliveries that were already attempted are not dropped for another subscription', async () => {
    const long = await subscribe(company);
    const short = await subscribe(company, ['lead.created']);
    await fanOut(long, 10, 10);
    await query('UPDATE deliveries SET attempts = 1 LIMIT 7');
    await fanOut(short, 10, 5, 'lead.created');
    expect([await waitingOf(long), await waitingOf(short), await missedOf(short)]).toEqual([7, 3, 2]);
  });

  test('A company that has reached its quota does not affect another', async () => {
    await fanOut(await subscribe(company), 10, 30);
    const { missed } = await fanOut(await subscribe(company + 1), 10, 2);
    expect(missed).toEqual([]);
  });

  test('Deliveries that have ended make room at once, and nothing is missed below the quota', async () => {
    const subscription = await subscribe(company);
    for (let round = 0; round < 10; round++) {
      await fanOut(subscription, 20, 20);
      await endAll();
    }
    expect(await missedOf(subscription)).toBe(0);
    expect(await countOf('(SELECT COUNT(*) FROM deliveries)')).toBe(200);
  });
});
