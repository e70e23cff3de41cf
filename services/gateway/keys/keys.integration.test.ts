import { setTimeout as sleep } from 'node:timers/promises';
import { followKeyTable, type KeyTable } from '@causeway/identity';
import {
  type GatewayAnswer,
  gatewayBucket,
  gatewayBucketSettings,
  type KeyEntry,
  type KeyTableChange,
  keyBucket,
  keyRevokedSubject,
} from '@causeway/proto';
import { type Bus, connectBus, createLog, createMetrics } from '@causeway/runtime';
import { type TestNats, testNats } from '@causeway/runtime/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { keepPresence } from './presence.ts';

const { log } = createLog({ name: 'test', instance: 'test', level: 'silent' });

let nats: TestNats;
let bus: Bus;
let access: Bus;
let bucket: KV;

beforeEach(async () => {
  nats = await testNats();
  bus = await connectBus({ url: nats.url, name: 'gateway' });
  access = await connectBus({ url: nats.url, name: 'access' });
  onTestFinished(async () => {
    await bus.nc.close();
    await access.nc.close();
  });
  bucket = await openBucket();
  await new Kvm(access.nc).create(gatewayBucket, gatewayBucketSettings);
});

const openBucket = (by: Bus = access) =>
  new Kvm(by.nc).create(keyBucket, { history: 1, allow_direct: false });
const emptied = async (url: string): Promise<void> => {
  const operator = await connectBus({ url, name: 'operator' });
  await (await jetstreamManager(operator.nc)).streams.delete(`KV_${keyBucket}`).catch(() => {});
  await operator.close();
};
const entry = (version: number, active = true): string =>
  JSON.stringify({ version, id: 5, companyId: 1001, scopes: ['admin'], active } satisfies KeyEntry);

const follow = (options: { bus?: Bus; keepRevokedMs?: number } = {}): KeyTable => {
  const table = followKeyTable({ bus, confirmsAs: 'gateway-1', log, metrics: createMetrics(), ...options });
  onTestFinished(() => table.close());
  return table;
};
const fill = async (): Promise<void> => {
  await bucket.put('key.a', entry(1));
  await bucket.put('company.1001', JSON.stringify({ version: 1, limits: { read: 7 } }));
  await bucket.put('meta', JSON.stringify({ ready: true }));
};
const filledTable = async (options?: Parameters<typeof follow>[0]): Promise<KeyTable> => {
  await fill();
  const table = follow(options);
  await table.reload('start');
  return table;
};
/** For an answer that comes. */
const withinMs = 60_000;
/** @returns the gateways that answered within `waitMs`. */
const announce = async (change: KeyTableChange, waitMs: number): Promise<string | undefined> => {
  try {
    const reply = await access.nc.request(keyRevokedSubject, JSON.stringify(change), { timeout: waitMs });
    return reply.json<GatewayAnswer>().instance;
  } catch {
    return undefined;
  }
};

describe('the key table', () => {
  test('forgets a revoked key after a while, and one that was revoked long ago at once', async () => {
    await bucket.put('key.b', entry(2, false));
    // Longer than `keepRevokedMs` below.
    await sleep(300);
    const table = await filledTable({ keepRevokedMs: 250 });
    expect(table.key('key.b')).toBeUndefined();
    await bucket.put('key.a', entry(2, false));
    await expect.poll(() => table.key('key.a')).toBeUndefined();
    expect(table.company(1001)?.limits).toEqual({ read: 7 });
  });

  test('is trusted only after it was read completely, then follows each change', async () => {
    await bucket.put('key.a', entry(1));
    const table = follow();
    const reading = table.reload('start');
    // Time for a wrong table to become trusted before its bucket is complete.
    await sleep(200);
    expect(table.trusted()).toBe(false);
    await fill();
    await reading;
    expect(table.trusted()).toBe(true);
    expect(table.key('key.a')).toMatchObject({ id: 5, active: true });
    expect(table.company(1001)?.limits).toEqual({ read: 7 });
    await bucket.put('key.a', entry(2, false));
    await expect.poll(() => table.key('key.a')?.active).toBe(false);
  });

  test('takes a change from its announcement, and confirms it before the bucket has it', async () => {
    const table = await filledTable();
    const change = { name: 'key.a', version: 2, entry: JSON.parse(entry(2, false)) as KeyEntry };
    expect(await announce(change, withinMs)).toBe('gateway-1');
    expect(table.key('key.a')).toMatchObject({ version: 2, active: false });
  });

  test('never goes back to an older version of an entry', async () => {
    const table = await filledTable();
    await bucket.put('key.a', entry(3, false));
    // The bucket keeps one value of each entry.
    await expect.poll(() => table.key('key.a')?.version).toBe(3);
    await bucket.put('key.a', entry(2));
    await bucket.put('key.b', entry(1));
    await expect.poll(() => table.key('key.b')).toBeDefined();
    expect(table.key('key.a')).toMatchObject({ version: 3, active: false });
  });

  test('keeps a revocation that it has confirmed when it reads the bucket from a server that lags behind', async () => {
    const table = await filledTable();
    // The bucket keeps the older entry, as a server does that has not received the newer one yet.
    const change = { name: 'key.a', version: 2, entry: JSON.parse(entry(2, false)) as KeyEntry };
    expect(await announce(change, withinMs)).toBe('gateway-1');
    await table.reload('NATS is back');
    expect(table.trusted()).toBe(true);
    expect(table.key('key.a')).toMatchObject({ version: 2, active: false });
    await bucket.put('key.a', entry(3));
    await expect.poll(() => table.key('key.a')).toMatchObject({ version: 3, active: true });
  });

  test('after a disconnection is not trusted until it was read completely again, with the changes made meanwhile', async () => {
    await fill();
    const table = follow();
    bus.onReconnect(() => void table.reload('NATS is back'));
    await table.reload('start');
    await nats.kill();
    await expect.poll(() => bus.connected()).toBe(false);
    expect(table.trusted()).toBe(true); // For a minute; what needs NATS is refused elsewhere.
    await nats.restart();
    await expect.poll(() => access.connected()).toBe(true);
    await bucket.put('key.a', entry(2, false));
    await expect
      .poll(() => bus.connected() && table.trusted() && table.key('key.a'), { interval: 1 })
      .toMatchObject({ active: false });
  });

  test('is not trusted after a minute without its feed', async () => {
    const table = await filledTable();
    await nats.kill();
    await expect.poll(() => bus.connected()).toBe(false);
    const real = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => real() + 61_000);
    onTestFinished(() => void vi.restoreAllMocks());
    expect(table.trusted()).toBe(false);
  });

  test('is read from another server if its own has nothing to read', async () => {
    const both = [nats, await testNats()];
    const own = await connectBus({ url: both.map(({ url }) => url).join(','), name: 'gateway' });
    onTestFinished(() => own.close());
    const elsewhere = both.find(({ url }) => !url.endsWith(own.nc.getServer()))!;
    const writer = await connectBus({ url: elsewhere.url, name: 'access' });
    onTestFinished(() => writer.close());
    for (const server of both) await emptied(server.url);
    bucket = await openBucket(writer);
    await fill();
    const table = follow({ bus: own });
    own.onReconnect(() => void table.reload('NATS is back'));
    await table.reload('start');
    expect(table.trusted()).toBe(true);
    expect(elsewhere.url.endsWith(own.nc.getServer())).toBe(true);
  });

  test('is read again when its bucket was lost and created again', async () => {
    const table = await filledTable();
    await (await jetstreamManager(access.nc)).streams.delete(`KV_${keyBucket}`);
    bucket = await openBucket();
    await bucket.put('key.a', entry(9, false));
    await bucket.put('meta', JSON.stringify({ ready: true }));
    await expect.poll(() => table.key('key.a')).toMatchObject({ version: 9, active: false });
    expect(table.trusted()).toBe(true);
  });
});

describe('presence', () => {
  test('is listed while the gateway lives, is renewed, and is removed when it leaves', async () => {
    const presence = await keepPresence({ bus, instance: 'gateway-1', log, onLapse: () => {} });
    const registry = await new Kvm(access.nc).open(gatewayBucket);
    const first = await registry.get('gateway-1');
    expect(first?.operation).toBe('PUT');
    await expect
      .poll(async () => (await registry.get('gateway-1'))!.revision)
      .toBeGreaterThan(first!.revision);
    await presence.close();
    expect((await registry.get('gateway-1'))?.operation).toBe('DEL');
  });

  test('that may have expired makes the gateway read everything again', async () => {
    let lapses = 0;
    const presence = await keepPresence({ bus, instance: 'gateway-1', log, onLapse: () => void lapses++ });
    await nats.pause();
    // Longer than an entry lives without a renewal.
    await sleep(5500);
    expect(presence.listed()).toBe(false);
    nats.resume();
    await expect.poll(() => lapses).toBe(1);
    expect(presence.listed()).toBe(true);
    await presence.close();
  });
});
