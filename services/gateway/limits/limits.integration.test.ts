import { setTimeout as sleep } from 'node:timers/promises';
import { ensureLimitStreams } from '@causeway/identity';
import { limitLogNumbers, limitLogStream } from '@causeway/proto';
import { type Bus, connectBus } from '@causeway/runtime';
import { type TestNats, testNats } from '@causeway/runtime/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import type { Subscription } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createAsker } from './ask.ts';
import { type Counter, createCounter, type Take } from './counter.ts';
import { companySlot, keySlot } from './counts.ts';
import { createLimiter, type Limiter, type Limits, type Verdict } from './limiter.ts';
import { type LogState, openJetStreamLog } from './log.ts';
import { claimOwnership, MovedError, type Owner } from './owner.ts';
import { createQuorum, type Quorum } from './quorum.ts';

let nats: TestNats;
beforeAll(async () => {
  nats = await testNats();
});
afterAll(() => nats.stop());

/** No key is used twice, so that tests may share a server and a minute. */
let lastKey = 1000;
const newKey = (): number => ++lastKey;

/** Long enough never to expire. */
const withinMs = 60_000;

interface Gateway {
  readonly bus: Bus;
  readonly counter: Counter;
  readonly limiter: Limiter;
}

const startGateway = async (url = nats.url, timeoutMs = withinMs): Promise<Gateway> => {
  const bus = await connectBus({ url, name: 'gateway' });
  onTestFinished(() => bus.close());
  await ensureLimitStreams(bus.nc, []);
  const counter = createCounter({ bus, logs: limitLogNumbers(1), timeoutMs });
  return { bus, counter, limiter: createLimiter(counter, () => clock) };
};

const openQuorum = ({ bus }: Gateway): Quorum => {
  let stores = 0;
  return createQuorum({
    logs: [openJetStreamLog(createAsker(bus).ask, { log: 1, timeoutMs: 5000 })],
    newStore: () => `store${++stores}`,
  });
};
const ownerOf = (quorum: Quorum): Promise<string | null | undefined> => new Promise(quorum.findOwner);
const entriesOf = async ({ bus }: Gateway): Promise<number> => {
  const jsm = await jetstreamManager(bus.nc);
  const { state } = await jsm.streams.info(limitLogStream(1), { subjects_filter: 'limits.entries.1.*' });
  return Object.values(state.subjects!).reduce((sum, count) => sum + count, 0);
};
/** The requests of a test must not straddle a minute, so the limiter's clock stands still. */
const clock = Date.parse('2026-03-01T12:00:30Z');

type Bucket = 'read' | 'write' | 'admin' | 'lookup';
const limitsOf = (
  key: number,
  limit: number,
  bucket: Bucket = 'read',
  company?: Limits['company'],
): Limits => ({
  own: { name: bucket, slot: keySlot(key, bucket), limit },
  company: company ?? null,
});
const take = ({ limiter }: Gateway, key: number, limit: number, bucket?: Bucket): Promise<Verdict> =>
  limiter.take(limitsOf(key, limit, bucket));

const inSlot = (window: number, slot: number): Take => ({
  window,
  slot,
  limit: 1_000_000,
  companySlot: 0,
});
const requests = (slot: number, n = 1) => [slot, 1_000_000, n, 0];

const takeAll = (gateways: readonly Gateway[], key: number, times: number, limit = 60) =>
  Promise.allSettled(
    Array.from({ length: times }, async (_, at) => take(gateways[at % gateways.length]!, key, limit)),
  );

const admitted = (results: PromiseSettledResult<{ admitted: boolean }>[]): number =>
  results.filter((result) => result.status === 'fulfilled' && result.value.admitted).length;

const highestUsed = (results: PromiseSettledResult<{ used: number }>[]): number =>
  Math.max(...results.map((result) => (result.status === 'fulfilled' ? result.value.used : 0)));

describe('limits are exact', () => {
  test('a key that floods beyond its limit uses up nothing of the other keys of its company', async () => {
    const { limiter } = await startGateway();
    const company = { name: 'company-read', slot: companySlot(newKey(), 'read'), limit: 20 } as const;
    const [flooding, other] = [newKey(), newKey()];
    await Promise.all(
      Array.from({ length: 200 }, () => limiter.take(limitsOf(flooding, 10, 'read', company))),
    );
    for (let at = 1; at <= 10; at++)
      expect((await limiter.take(limitsOf(other, 10, 'read', company))).admitted).toBe(true);
  });

  test('a key over its limit is admitted when its limit is raised', async () => {
    const gateway = await startGateway();
    const key = newKey();
    for (let at = 0; at < 3; at++) await take(gateway, key, 3);
    expect(gateway.limiter.likelyRefused(limitsOf(key, 3))).toBe(false);
    expect(await take(gateway, key, 3)).toMatchObject({ admitted: false, used: 4, limit: 3 });
    expect(gateway.limiter.likelyRefused(limitsOf(key, 3))).toBe(true);
    expect(await take(gateway, key, 3)).toMatchObject({ admitted: false, used: 5 });
    expect(await take(gateway, key, 6)).toMatchObject({ admitted: true, used: 6 });
  });

  test('the next window starts at zero', async () => {
    const { counter } = await startGateway();
    let nowMs = clock;
    const limiter = createLimiter(counter, () => nowMs);
    const key = newKey();
    for (let at = 0; at < 3; at++) await limiter.take(limitsOf(key, 2));
    expect((await limiter.take(limitsOf(key, 2))).admitted).toBe(false);
    nowMs += 60_000;
    expect(await limiter.take(limitsOf(key, 2))).toMatchObject({
      admitted: true,
      used: 1,
      resetSeconds: Date.parse('2026-03-01T12:02:00Z') / 1000,
    });
  });
});

describe('counts survive', () => {
  test('the kill of their owner under load: no position is admitted twice', async () => {
    // What is lost with the owner is waited for as long as this.
    const gateways = await Promise.all([1, 2, 3].map(() => startGateway(nats.url, 15_000)));
    await takeAll([gateways[0]!], newKey(), 1);
    const keys = Array.from({ length: 20 }, newKey);
    const first = keys.map((key) => takeAll(gateways, key, 30));
    await sleep(1);
    await gateways[0]!.bus.nc.close();
    const results = await Promise.all(first);
    const more = await Promise.all(keys.map((key) => takeAll(gateways.slice(1), key, 100)));
    for (const [at, key] of keys.entries()) {
      const total = admitted(results[at]!) + admitted(more[at]!);
      expect(total, `key ${key}`).toBeLessThanOrEqual(60);
      // A position without an answer was lost with the owner, or its request was counted again by the next one.
      const answered = [...results[at]!, ...more[at]!].filter(({ status }) => status === 'fulfilled');
      const lost = highestUsed(answered) - answered.length;
      expect(lost, `key ${key}`).toBeGreaterThanOrEqual(0);
      expect(lost, `key ${key}`).toBeLessThanOrEqual(results[at]!.length);
      expect(total + lost, `key ${key}`).toBeGreaterThanOrEqual(60);
    }
  });

  test('the drain of their owner: every request is answered', async () => {
    const gateways = await Promise.all([1, 2].map(() => startGateway()));
    const key = newKey();
    await gateways[0]!.counter.warm();
    const before = takeAll(gateways, key, 40, 1000);
    await gateways[0]!.counter.drain();
    const after = takeAll([gateways[1]!], key, 40, 1000);
    expect(admitted(await before) + admitted(await after)).toBe(80);
    expect((await take(gateways[1]!, key, 1000)).used).toBe(81);
  });

  test('a drain under load, after which the next owner continues at once', async () => {
    const gateways = await Promise.all([1, 2].map(() => startGateway()));
    const [leaving, staying] = gateways as [Gateway, Gateway];
    await leaving.counter.warm();
    const key = newKey();
    // Enough messages that reading them one by one would take long.
    for (let at = 0; at < 400; at++) await take(leaving, key, 1000);
    const drained = leaving.counter.drain();
    // None waits for a timeout, as for an owner that is not found.
    for (let used = 401; used <= 500; used++) expect((await take(staying, key, 1000)).used).toBe(used);
    await drained;
    const quorum = openQuorum(staying);
    expect(await ownerOf(quorum)).not.toBeNull();
    await staying.counter.drain();
    // Free for the next gateway that needs it, with all counts in its last message.
    expect(await ownerOf(quorum)).toBeNull();
    expect(await entriesOf(staying)).toBe(1);
  });

  test('more messages than a snapshot replaces', async () => {
    const first = await startGateway();
    const window = Math.floor(Date.now() / 60_000);
    const slot = newKey() * 4;
    // One request after another, so that each is a message of its own.
    for (let at = 1; at <= 500; at++) expect((await first.counter.count(inSlot(window, slot))).own).toBe(at);
    expect(await entriesOf(first)).toBeLessThan(200);
    await first.counter.drain();
    const second = await startGateway();
    expect((await second.counter.count(inSlot(window, slot))).own).toBe(501);
  });
});

test('a question that is asked while the connection is lost waits for it', async () => {
  const { bus } = await startGateway();
  const { ask } = createAsker(bus);
  await bus.nc.reconnect();
  await expect.poll(() => bus.connected()).toBe(false);
  const answer = await new Promise((resolve) =>
    ask(`$JS.API.STREAM.INFO.${limitLogStream(1)}`, '', { timeoutMs: 60_000 }, resolve),
  );
  expect(answer).toMatchObject({ subject: expect.stringMatching(/^_INBOX_gateway/) });
});

interface Ask {
  readonly window: number;
  readonly takes: number[];
  readonly id?: string;
}

describe('ownership', () => {
  const listen = () => ({ close: async () => {} });
  const listenFor = ({ bus }: Gateway, owner: Owner): Subscription =>
    bus.nc.subscribe(`limits.count.${owner.epoch}`, {
      callback: (_, message) => {
        const { window, takes } = message.json<Ask>();
        void owner
          .count(window, takes, withinMs)
          .then((positions) => message.respond(JSON.stringify(positions)));
      },
    });
  const claimByHand = async (gateway: Gateway) => {
    const owner = await claimOwnership(openQuorum(gateway), listen);
    return { owner, listening: listenFor(gateway, owner) };
  };

  test('keeps a window as long as any gateway counts in it, whatever the clocks of the others say', async () => {
    const gateway = await startGateway();
    let nowMs = 0;
    const owner = await claimOwnership(openQuorum(gateway), listen, { elapsedMs: () => nowMs });
    const [behind, present] = [1000, 1003];
    const untilSnapshot = async (): Promise<void> => {
      for (let at = 0; at < 1001; at++) await owner.count(present, requests(8), withinMs);
    };
    expect(await owner.count(behind, requests(4), withinMs)).toEqual([1, 0]);
    nowMs += 119_000;
    await untilSnapshot();
    expect(await owner.count(behind, requests(4), withinMs)).toEqual([2, 0]);
    nowMs += 121_000;
    await untilSnapshot();
    expect(await owner.count(behind, requests(4), withinMs)).toEqual([1, 0]);
  });

  test('passes to the gateway that takes over, and the previous owner counts nothing more', async () => {
    const gateway = await startGateway();
    const quorum = openQuorum(gateway);
    const former = await claimOwnership(quorum, listen);
    const window = Math.floor(Date.now() / 60_000);
    expect(await former.count(window, requests(4, 2), withinMs)).toEqual([1, 0]);
    const present = await claimOwnership(quorum, listen);
    expect(await present.count(window, requests(4), withinMs)).toEqual([3, 0]);
    await expect(former.count(window, requests(4), withinMs)).rejects.toBeInstanceOf(MovedError);
    expect(former.owned()).toBe(false);
    expect(await present.count(window, requests(4), withinMs)).toEqual([4, 0]);
  });

  test('is not taken under another name of the store', async () => {
    const gateway = await startGateway();
    const owner = await claimOwnership(openQuorum(gateway), listen);
    const log = openJetStreamLog(createAsker(gateway.bus).ask, { log: 1, timeoutMs: 5000 });
    const state = await new Promise<LogState | undefined>(log.readState);
    const append = (store: string, expectedSequence: number) =>
      new Promise((resolve) =>
        log.append({ store, entry: new Uint8Array(), expectedSequence, replaces: false }, resolve),
      );
    for (const expected of [0, state!.sequence]) expect(await append('other', expected)).toBe('refused');
    expect(owner.owned()).toBe(true);
    await owner.release();
  });

  test('stays with an owner that was slow for a while, and nothing is counted twice', async () => {
    const [gateway, other] = [await startGateway(), await startGateway()];
    const window = Math.floor(Date.now() / 60_000);
    const ids: (string | undefined)[] = [];
    const owner = await claimOwnership(openQuorum(gateway), listen);
    gateway.bus.nc.subscribe(`limits.count.${owner.epoch}`, {
      callback: (_, message) => {
        const { window: askedFor, takes, id } = message.json<Ask>();
        if (ids.push(id) === 1) return;
        void owner
          .count(askedFor, takes, withinMs)
          .then((positions) => message.respond(JSON.stringify(positions)));
      },
    });
    const slot = newKey() * 4;
    for (let at = 1; at <= 4; at++) expect((await other.counter.count(inSlot(window, slot))).own).toBe(at);
    expect(owner.owned()).toBe(true);
    expect(ids[0]).toBe(ids[1]);
  });

  test('is taken from an owner that hangs, and counts stay exact when it wakes', async () => {
    const gateway = await startGateway();
    const other = await startGateway();
    const window = Math.floor(Date.now() / 60_000);
    // An owner that listens and never answers, like a frozen process.
    let asked = 0;
    const frozen = await claimOwnership(openQuorum(gateway), listen);
    gateway.bus.nc.subscribe(`limits.count.${frozen.epoch}`, { callback: () => void asked++ });
    const slot = newKey() * 4;
    expect((await other.counter.count(inSlot(window, slot))).own).toBe(1);
    expect(asked).toBeGreaterThanOrEqual(2);
    await expect(frozen.count(window, requests(slot), withinMs)).rejects.toBeInstanceOf(MovedError);
    expect((await other.counter.count(inSlot(window, slot))).own).toBe(2);
  });

  test('stays with an owner that comes back after nobody has listened for a moment', async () => {
    const gateway = await startGateway();
    const { nc } = gateway.bus;
    const window = Math.floor(Date.now() / 60_000);
    const slot = newKey() * 4;
    const { owner, listening } = await claimByHand(gateway);
    expect((await gateway.counter.count(inSlot(window, slot))).own).toBe(1);
    listening.unsubscribe();
    const publish = nc.publish.bind(nc);
    let asked = 0;
    nc.publish = (subject, payload, options) => {
      if (subject === `limits.count.${owner.epoch}` && ++asked === 2) listenFor(gateway, owner);
      publish(subject, payload, options);
    };
    expect((await gateway.counter.count(inSlot(window, slot))).own).toBe(2);
    expect(asked).toBe(2);
    expect(await ownerOf(openQuorum(gateway))).toBe(owner.epoch);
  });

  test('is taken over at once after it was released', async () => {
    const gateway = await startGateway();
    const { nc } = gateway.bus;
    const window = Math.floor(Date.now() / 60_000);
    const slot = newKey() * 4;
    const { owner, listening } = await claimByHand(gateway);
    expect((await gateway.counter.count(inSlot(window, slot))).own).toBe(1);
    await owner.release();
    listening.unsubscribe();
    const asked = vi.spyOn(nc, 'publish');
    expect((await gateway.counter.count(inSlot(window, slot))).own).toBe(2);
    expect(asked.mock.calls.filter(([subject]) => subject === `limits.count.${owner.epoch}`)).toHaveLength(1);
  });

  test('gives its owner nothing to answer over a new connection, which NATS would refuse', async () => {
    const permissions = {
      publish: { allow: ['$JS.>', 'limits.>'] },
      subscribe: { allow: ['_INBOX_gateway.>', 'limits.>'] },
      allow_responses: { max: 1, expires: '1m' },
    };
    const own = await testNats({
      authorization: { users: [{ user: 'gateway', password: 'x', permissions }] },
    });
    onTestFinished(() => own.stop());
    const url = own.url.replace('//', '//gateway:x@');
    const gateways = [await startGateway(url), await startGateway(url)];
    const refused: unknown[] = [];
    const noteRefusals = async ({ bus }: Gateway): Promise<void> => {
      for await (const status of bus.nc.status()) if (status.type === 'error') refused.push(status.error);
    };
    for (const gateway of gateways) void noteRefusals(gateway);
    for (let round = 0; round < 20; round++) {
      await expect.poll(() => takeAll(gateways, newKey(), 4).then(admitted)).toBe(4);
      // The owner has a part of these requests when its connection is lost.
      const asked = Array.from({ length: 20 }, async (_, at) => {
        await sleep(at / 4);
        await takeAll(gateways, newKey(), 4);
      });
      await sleep(2);
      for (const { bus } of gateways) await bus.nc.reconnect();
      await Promise.all(asked);
    }
    expect(refused).toEqual([]);
  });

  test('a message that is sent again gets the first answer, also from the real owner', async () => {
    const [gateway, other] = [await startGateway(), await startGateway()];
    await take(gateway, newKey(), 60);
    const epoch = await ownerOf(openQuorum(other));
    const ask = async (id: string) => {
      const body = JSON.stringify({ window: Math.floor(clock / 60_000), takes: requests(slot), id });
      return (await other.bus.nc.request(`limits.count.${epoch}`, body)).json();
    };
    const slot = newKey() * 4;
    expect(await Promise.all([ask('1'), ask('1'), ask('2'), ask('1')])).toEqual([
      [1, 0],
      [1, 0],
      [2, 0],
      [1, 0],
    ]);
  });
});
