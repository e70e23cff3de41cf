import { setTimeout as sleep } from 'node:timers/promises';
import { decodeEnvelopeHead, encodeEnvelope, type OperationId } from '@causeway/proto';
import { connectBus, createMetrics } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { type BootedCrm, bootCrm } from '../testing/boot.ts';
import { startCrmProcess } from '../testing/process.ts';
import { readEvents } from '../testing/read-events.ts';
import type { CommittedEvent } from './event-log.ts';
import { openPublisher } from './publisher.ts';

// Each test starts without a service in its own process: replicas are processes that can be killed.
let crm: BootedCrm;
beforeEach(async () => {
  crm = await bootCrm({ replicas: 0 });
});

const person = { first_name: 'Katherine', last_name: 'Johnson', email: 'katherine@example.com' };
const companyId = 4001;

const startReplica = () => startCrmProcess(crm, process.env);

const outboxIds = async () =>
  (await crm.database.query<{ event_id: number }>('SELECT event_id FROM event_outbox ORDER BY event_id')).map(
    (row) => row.event_id,
  );
const events = () => readEvents(crm.db, companyId, { after: 0, limit: 10_000 });
/** Waits for a lost frame no longer than a gateway does. */
const act = (operation: OperationId) => crm.write(operation, companyId, person);

const publishedFromNow = async () => {
  const published = new Map<number, string>();
  crm.bus.nc.subscribe('events.>', {
    callback: (_, message) => {
      published.set(decodeEnvelopeHead(message.data)!.event_id, message.string());
    },
  });
  await crm.bus.nc.flush();
  return published;
};

test('a replica that is killed under load leaves an event and its outbox row for each record, or neither', async () => {
  const replica = await startReplica();
  const load = Promise.allSettled(
    Array.from({ length: 300 }, (_, at) => sleep(at).then(() => act('createLead'))),
  );
  // Kills the replica in the middle of the load, which takes 300 ms.
  await sleep(150);
  await replica.kill();
  await startReplica();
  const answered = (await load).filter(
    (one) => one.status === 'fulfilled' && one.value.status === 201,
  ).length;
  const ids = (await events()).map(({ event_id }) => event_id);
  expect(await outboxIds()).toEqual(ids);
  expect(await crm.database.query('SELECT client_id FROM clients')).toHaveLength(ids.length);
  expect(ids.length).toBeGreaterThanOrEqual(answered);
});

describe('a NATS server that', () => {
  const event: CommittedEvent = {
    subscriptionsVersion: 0,
    sequence: 1,
    origin: 'system',
    event_id: 100_000,
    company_id: companyId,
    type: 'lead.created',
    created_utc: new Date(0),
    payload: Buffer.from(JSON.stringify({ note: 'x'.repeat(1000) })),
  };
  const openOwn = async (maxBytes: number) => {
    const bus = await connectBus({ url: crm.nats.url, name: 'crm' });
    cleanUp(() => bus.close());
    const metrics = createMetrics();
    const publisher = openPublisher({ bus, metrics, maxBytes });
    const counted = async (name: string) => {
      const { values } = await metrics.registry.getSingleMetric(name)!.get();
      return values[0]?.value;
    };
    return { bus, publisher, counted };
  };

  test('stalls gets no more than the bound, and the rest when it is back', async () => {
    const { publisher, counted } = await openOwn(50_000);
    const published = await publishedFromNow();
    await crm.nats.pause();
    for (let at = 0; at < 100; at++) publisher.publish([{ ...event, event_id: 100_000 + at }]);
    const fits = Math.floor(50_000 / encodeEnvelope(event).length);
    expect(await counted('crm_events_published_total')).toBe(fits);
    expect(await counted('crm_events_unpublished_total')).toBe(100 - fits);
    crm.nats.resume();
    await publisher.drain();
    await expect.poll(() => published.size).toBe(fits);
    publisher.publish(Array.from({ length: 30 }, (_, at) => ({ ...event, event_id: 200_000 + at })));
    await expect.poll(() => published.size).toBe(fits + 30);
  });

  test('is gone gets nothing, and writes do not wait for it', async () => {
    const { bus, publisher, counted } = await openOwn(50_000);
    await crm.nats.kill();
    await expect.poll(() => bus.connected()).toBe(false);
    publisher.publish([event]);
    await publisher.drain();
    expect(await counted('crm_events_unpublished_total')).toBe(1);
    expect(await counted('crm_events_published_total')).toBe(0);
  });
});
