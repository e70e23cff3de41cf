import { setTimeout as sleep } from 'node:timers/promises';
import { ensureLimitStreams } from '@causeway/identity';
import { limitEntrySubject, limitLogNumbers, limitLogStream } from '@causeway/proto';
import { type Bus, connectBus, createMetrics } from '@causeway/runtime';
import { type TestNats, testNatsCluster, until } from '@causeway/runtime/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { gatewayMetrics } from '../metrics.ts';
import { createAsker } from './ask.ts';
import { CountError, type Counter, createCounter, type Take } from './counter.ts';
import { encodeEntry, type LogState, openJetStreamLog } from './log.ts';
import { claimOwnership } from './owner.ts';
import { createQuorum } from './quorum.ts';

let servers: readonly TestNats[];
let operator: Bus;
beforeAll(async () => {
  servers = await testNatsCluster(3);
  operator = await connectBus({ url: urls(), name: 'operator' });
  const names = servers.map((_, at) => `nats-${at + 1}`);
  // The servers must know each other before they can place a stream.
  await until('the streams', () =>
    ensureLimitStreams(operator.nc, names).then(
      () => true,
      () => false,
    ),
  );
});
afterAll(() => operator.close());

const urls = (): string => servers.map(({ url }) => url).join(',');

/** A client takes one of the servers by chance. */
const connectTo = async (server: number, options: { readonly standby?: boolean } = {}): Promise<Bus> => {
  for (;;) {
    const bus = await connectBus({ url: urls(), name: 'gateway', ...options });
    if (servers[server]!.url.endsWith(bus.nc.getServer())) return bus;
    await bus.close();
  }
};

const stateOf = (log: number): Promise<LogState | undefined> =>
  new Promise((resolve) =>
    openJetStreamLog(createAsker(operator).ask, { log, timeoutMs: 1000 }).readState(resolve),
  );
beforeEach(async () => {
  const bus = await connectBus({ url: urls(), name: 'gateway' });
  await allComplete({ bus, counter: counterOf(bus) });
  await bus.close();
});
const allComplete = async (gateway: Gateway): Promise<void> => {
  const isComplete = async (): Promise<boolean> => {
    await gateway.counter.count(take(newSlot())).catch(() => {});
    const states = await Promise.all(limitLogNumbers(3).map(stateOf));
    return states.every((state) => state?.member) && new Set(states.map((state) => state?.epoch)).size === 1;
  };
  await until('three complete logs', isComplete);
};

interface Gateway {
  readonly bus: Bus;
  readonly counter: Counter;
}

const startGateway = async (server: number, standby = false): Promise<Gateway> => {
  const bus = await connectTo(server, { standby });
  onTestFinished(() => bus.close());
  const counter = counterOf(bus);
  // It knows the owner from here on, or is the owner.
  await counter.count(take(newSlot()));
  return { bus, counter };
};
/** A request may wait long, so that a slow machine fails none. */
const counterOf = (bus: Bus): Counter =>
  createCounter({ bus, metrics, logs: limitLogNumbers(3), timeoutMs: 20_000 });
const metrics = createMetrics();
const moved = metrics.counter(gatewayMetrics.limit_batches_total).cell('moved');

let lastSlot = 4000;
const newSlot = (): number => (lastSlot += 4);
const window = Math.floor(Date.now() / 60_000);
const take = (slot: number): Take => ({ window, slot, limit: 1_000_000, companySlot: 0 });

/** `stop` returns the positions of a slot. */
const startLoad = (gateways: readonly Gateway[], slot: number) => {
  let stopped = false;
  const positions: number[] = [];
  const failures: unknown[] = [];
  const movedBefore = moved.value;
  const callers = gateways.flatMap(({ counter }) =>
    Array.from({ length: callersPerGateway }, async () => {
      while (!stopped) {
        await counter.count(take(slot)).then(
          ({ own }) => positions.push(own),
          (error: unknown) => failures.push(error),
        );
        await sleep(1);
      }
    }),
  );
  return {
    counted: () => positions.length,
    stop: async () => {
      stopped = true;
      await Promise.all(callers);
      return { positions, failures, moves: moved.value - movedBefore };
    },
  };
};
/** At most as many requests are in one message to the owner. */
const callersPerGateway = 4;
/**
 * On a starved machine an owner may hang for so long that another takes over: requests under way are sent to
 * it and may be counted twice, but no position is answered twice.
 */
const expectCounted = ({ positions, failures, moves }: Loaded): void => {
  expect(failures).toEqual([]);
  expect(new Set(positions).size).toBe(positions.length);
  expect(Math.max(...positions) - positions.length).toBeLessThanOrEqual(moves * callersPerGateway);
};
type Loaded = Awaited<ReturnType<ReturnType<typeof startLoad>['stop']>>;
const moreThan = async (load: { counted(): number }, more: number): Promise<void> => {
  const before = load.counted();
  await expect.poll(load.counted).toBeGreaterThan(before + more);
};

describe.each([1, 2, 3])('when NATS server %d', (log) => {
  const server = log - 1;

  test('is killed under load, every request is counted, exactly once', async () => {
    const gateways = [await startGateway(0), await startGateway(1), await startGateway(2)];
    const load = startLoad(gateways, newSlot());
    await moreThan(load, 100);
    await servers[server]!.kill();
    onTestFinished(() => servers[server]!.restart());
    await moreThan(load, 300);
    expectCounted(await load.stop());
  });
});

test('when a server loses its store, its log is not believed until it has the whole state, and nothing is lost', async () => {
  const gateways = [await startGateway(0), await startGateway(2)];
  const slot = newSlot();
  const load = startLoad(gateways, slot);
  await moreThan(load, 50);
  const before = await stateOf(2);
  await servers[1]!.kill();
  await servers[1]!.wipe();
  await servers[1]!.restart();
  await moreThan(load, 50);
  await allComplete(gateways[0]!);
  expect((await stateOf(2))?.store).not.toBe(before?.store);
  const loaded = await load.stop();
  expectCounted(loaded);
  // Another one dies, and the wiped server has everything that is needed.
  for (const { bus } of gateways) await bus.close();
  await servers[0]!.kill();
  onTestFinished(() => servers[0]!.restart());
  const next = await startGateway(1);
  const { positions } = loaded;
  const movedBefore = moved.value;
  positions.push((await next.counter.count(take(slot))).own);
  expectCounted({ ...loaded, moves: loaded.moves + moved.value - movedBefore });
  expect(positions.at(-1)).toBe(Math.max(...positions));
});

test('when a server is frozen under load, the others go on', async () => {
  const gateways = [await startGateway(0), await startGateway(1)];
  const slot = newSlot();
  const load = startLoad(gateways, slot);
  await moreThan(load, 50);
  await servers[2]!.pause();
  onTestFinished(() => servers[2]!.resume());
  await moreThan(load, 300);
  servers[2]!.resume();
  await moreThan(load, 50);
  expectCounted(await load.stop());
});

test('when both other servers are frozen, a gateway counts nothing and does not leave its own server', async () => {
  const { bus } = await startGateway(0, true);
  const counter = createCounter({ bus, logs: limitLogNumbers(3), timeoutMs: 500 });
  let lost = 0;
  bus.onDisconnect(() => lost++);
  for (const server of servers.slice(1)) {
    await server.pause();
    onTestFinished(() => server.resume());
  }
  for (let tries = 0; tries < 4; tries++)
    await expect(counter.count(take(newSlot()))).rejects.toBeInstanceOf(CountError);
  expect(lost).toBe(0);
});

test('when a server is dead and then the owner too, another gateway takes over with every answered count', async () => {
  const [owner, other] = [await startGateway(0), await startGateway(2)];
  const slot = newSlot();
  await servers[1]!.kill();
  onTestFinished(() => servers[1]!.restart());
  const movedBefore = moved.value;
  const positions: number[] = [];
  for (let at = 1; at <= 20; at++) positions.push((await owner.counter.count(take(slot))).own);
  await owner.bus.nc.close();
  positions.push((await other.counter.count(take(slot))).own);
  expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  expectCounted({ positions, failures: [], moves: moved.value - movedBefore });
});

test('when all servers are killed under load, every request is counted, exactly once', async () => {
  const gateways = [await startGateway(0), await startGateway(1), await startGateway(2)];
  const load = startLoad(gateways, newSlot());
  await moreThan(load, 100);
  await Promise.all(servers.map((server) => server.kill()));
  await Promise.all(servers.map((server) => server.restart()));
  await moreThan(load, 300);
  expectCounted(await load.stop());
});

/** As NATS does at a start with messages beyond a stream's maximum age, whatever lifetime they have of their own. */
test('when the logs lose all entries but the last, a gateway that starts finds the owner', async () => {
  const owner = await startGateway(0);
  const slot = newSlot();
  const counted = [(await owner.counter.count(take(slot))).own];
  const manager = await jetstreamManager(operator.nc, { checkAPI: false });
  for (const log of limitLogNumbers(3)) await manager.streams.purge(limitLogStream(log), { keep: 1 });
  const late = await startGateway(1);
  for (let at = 1; at <= 20; at++)
    counted.push((await (at % 2 ? late : owner).counter.count(take(slot))).own);
  expect(counted).toEqual(Array.from({ length: 21 }, (_, at) => at + 1));
});

test('when all logs lose everything, one owner begins again', async () => {
  const gateways = [await startGateway(0), await startGateway(1), await startGateway(2)];
  const manager = await jetstreamManager(operator.nc, { checkAPI: false });
  const before = startLoad(gateways, newSlot());
  await moreThan(before, 50);
  for (const log of limitLogNumbers(3)) await manager.streams.purge(limitLogStream(log));
  await before.stop();
  const after = startLoad(gateways, newSlot());
  await moreThan(after, 100);
  expectCounted(await after.stop());
});

test('an owner that was fenced off notices it without a request', async () => {
  const ownMetrics = createMetrics();
  const bus = await connectBus({ url: urls(), name: 'gateway' });
  onTestFinished(() => bus.close());
  const counter = createCounter({ bus, metrics: ownMetrics, logs: limitLogNumbers(3), timeoutMs: 20_000 });
  await counter.count(take(newSlot()));
  const isOwner = async (): Promise<boolean> =>
    /^limit_owner.* 1$/m.test(await ownMetrics.registry.metrics());
  await expect.poll(isOwner).toBe(true);
  const { ask } = createAsker(operator);
  const quorum = createQuorum({
    logs: limitLogNumbers(3).map((log) => openJetStreamLog(ask, { log, timeoutMs: 1000 })),
    newStore: () => 'other',
  });
  // A claim fails if the owner writes meanwhile; a gateway claims again, too.
  const other = await until('the claim', () =>
    claimOwnership(quorum, () => ({ close: async () => {} })).catch(() => undefined),
  );
  await expect.poll(isOwner).toBe(false);
  expect(other.owned()).toBe(true);
  await other.release();
});

test('an entry follows the last one of its store only while no other, of any store, came after it', async () => {
  const manager = await jetstreamManager(operator.nc, { checkAPI: false });
  const stream = { name: limitLogStream(9), subjects: [limitEntrySubject(9, '*')] };
  // Servers that were killed before may still elect a leader, and an earlier run of the test has left entries.
  await until('a stream without entries', async () => {
    await manager.streams.delete(stream.name).catch(() => {});
    return manager.streams.add(stream).then(
      ({ state }) => state.messages === 0,
      () => false,
    );
  });
  const log = openJetStreamLog(createAsker(operator).ask, { log: 9, timeoutMs: 20_000 });
  const entry = encodeEntry({ epoch: 'a', number: 1 }, []);
  // The server that the test is connected to learns a moment later that the new stream listens.
  const never = headers();
  never.set('Nats-Expected-Last-Sequence', '999');
  const probe = () =>
    operator.nc.request(limitEntrySubject(9, 'one'), entry, { timeout: 1000, headers: never });
  await until('the stream listens', () =>
    probe().then(
      () => true,
      () => false,
    ),
  );
  const append = (store: string, expectedSequence: number) =>
    new Promise((resolve) => log.append({ store, entry, expectedSequence, replaces: false }, resolve));
  expect([await append('one', 0), await append('two', 0), await append('one', 1)]).toEqual([1, 'refused', 2]);
  expect([await append('one', 1), await append('two', 2)]).toEqual(['refused', 'refused']);
  await operator.nc.request(limitEntrySubject(9, 'two'), entry);
  expect(await append('one', 2)).toBe('refused');
});
