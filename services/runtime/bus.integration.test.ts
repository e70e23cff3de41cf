import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Bus, connectBus } from './bus.ts';
import { startProxy } from './database/testing/proxy.ts';
import { createMetrics } from './metrics.ts';
import { type TestNats, testNats } from './testing/index.ts';

const connectToOne = async (count: number): Promise<{ bus: Bus; mine: TestNats; others: TestNats[] }> => {
  const servers = await Promise.all(Array.from({ length: count }, () => testNats()));
  onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop()))));
  const bus = await connectBus({ url: servers.map(({ url }) => url).join(','), name: 'gateway' });
  onTestFinished(() => bus.close());
  const isMine = ({ url }: TestNats): boolean => url.endsWith(bus.nc.getServer());
  return { bus, mine: servers.find(isMine)!, others: servers.filter((server) => !isMine(server)) };
};

test('a silent server is given up within seconds, and others are tried first', async () => {
  const { bus, mine, others } = await connectToOne(3);
  const tried: string[] = [];
  bus.onReconnect(() => tried.push(bus.nc.getServer()));
  await mine.pause();
  onTestFinished(() => mine.resume());
  await expect.poll(() => tried).toHaveLength(1);
  expect(others.some(({ url }) => url.endsWith(tried[0]!))).toBe(true);
  await bus.nc.flush();
});

test('a handler that throws costs its message, not the connection', async () => {
  const { bus } = await connectToOne(1);
  let restored = 0;
  bus.onReconnect(() => restored++);
  const handled: string[] = [];
  bus.nc.subscribe('told', {
    callback: (_, message) => {
      handled.push(message.string());
      message.json();
    },
  });
  for (const text of ['not JSON', '[]', 'not JSON either', '{}']) bus.nc.publish('told', text);
  await bus.nc.flush();
  expect(handled).toEqual(['not JSON', '[]', 'not JSON either', '{}']);
  expect(restored).toBe(0);
});

describe('with a standby', () => {
  const standing = async (urls: readonly string[]) => {
    const metrics = createMetrics();
    const bus = await connectBus({ url: urls.join(','), name: 'gateway', standby: true, metrics });
    onTestFinished(() => bus.close());
    const left = async (reason: string): Promise<number> => {
      const { values } = (await metrics.registry.getSingleMetric('nats_server_switches_total')?.get()) ?? {
        values: [],
      };
      return values
        .filter(({ labels }) => labels.reason === reason)
        .reduce((sum, { value }) => sum + value, 0);
    };
    const isReady = async (): Promise<boolean> =>
      (await metrics.registry.getSingleMetric('nats_standby_ready')?.get())?.values[0]?.value === 1;
    return { bus, left, isReady };
  };

  test('a silent server is left for one that answers, and what listens goes on listening there', async () => {
    const servers = await Promise.all([1, 2].map(() => testNats()));
    const { bus, left, isReady } = await standing(servers.map(({ url }) => url));
    const heard: string[] = [];
    bus.nc.subscribe('news', { callback: (_, message) => void heard.push(message.string()) });
    await expect.poll(isReady).toBe(true);
    const mine = servers.find(({ url }) => url.endsWith(bus.nc.getServer()))!;
    await mine.pause();
    onTestFinished(() => mine.resume());
    await expect.poll(() => left('silent')).toBe(1);
    await expect.poll(() => bus.connected()).toBe(true);
    expect(bus.nc.getServer()).not.toBe(new URL(mine.url).host);
    bus.nc.publish('news', 'x');
    await expect.poll(() => heard).toEqual(['x']);
  });

  test('a killed server is left for the one that answers', async () => {
    const servers = await Promise.all([1, 2].map(() => testNats()));
    const { bus, isReady } = await standing(servers.map(({ url }) => url));
    await expect.poll(isReady).toBe(true);
    const back = new Promise<void>((resolve) => bus.onReconnect(resolve));
    const isMine = ({ url }: TestNats): boolean => url.endsWith(bus.nc.getServer());
    const [mine, other] = [servers.find(isMine)!, servers.find((server) => !isMine(server))!];
    await mine.kill();
    await back;
    expect(new URL(other.url).host).toBe(bus.nc.getServer());
  });

  test('a server is not left because this process was stalled', async () => {
    const servers = await Promise.all([1, 2, 3].map(() => testNats()));
    const { bus, left } = await standing(servers.map(({ url }) => url));
    let lost = 0;
    bus.onDisconnect(() => lost++);
    for (let round = 0; round < 5; round++) {
      // The standby asks at least once between two stalls.
      await sleep(150);
      const untilMs = performance.now() + 400;
      while (performance.now() < untilMs);
    }
    // Twice the silence after which a server is left.
    await sleep(300);
    expect(await left('silent')).toBe(0);
    expect(lost).toBe(0);
  });

  test('a server that is cut off from the others is left, and only that one', async () => {
    const { urls, cutOff } = await testCluster();
    const onEach = await Promise.all(
      urls.map((url, at) => standing([url, urls[(at + 1) % 3]!, urls[(at + 2) % 3]!])),
    );
    for (const { isReady } of onEach) await expect.poll(() => isReady()).toBe(true);
    const own = onEach.map(({ bus }) => bus.nc.getServer());
    const host = new URL(urls[0]!).host;
    await cutOff(0);
    await expect.poll(() => onEach.every(({ bus }) => bus.nc.getServer() !== host)).toBe(true);
    for (const [at, { bus, left }] of onEach.entries()) {
      expect(await left('cut off')).toBe(own[at] === host ? 1 : 0);
      if (own[at] !== host) expect(bus.nc.getServer()).toBe(own[at]);
    }
  });
});

/** Three servers whose routes go through proxies. The first server answers its clients later than the others. */
const testCluster = async () => {
  const ports = await Promise.all([0, 1, 2].map(freePort));
  const proxies = await Promise.all(
    ports.map((_, from) =>
      Promise.all(
        ports.map((port, to) => (from === to ? undefined : startProxy({ host: '127.0.0.1', port }))),
      ),
    ),
  );
  const servers = await Promise.all(
    ports.map((port, at) =>
      testNats({
        server_name: `n${at}`,
        jetstream: false,
        cluster: {
          name: 'test',
          listen: `127.0.0.1:${port}`,
          no_advertise: true,
          // Otherwise the servers tell each other the way around the proxies.
          advertise: '127.0.0.1:1',
          routes: proxies[at]!.flatMap((proxy) => (proxy ? [`nats-route://127.0.0.1:${proxy.port}`] : [])),
        },
      }),
    ),
  );
  const detour = await startProxy({ host: '127.0.0.1', port: Number(new URL(servers[0]!.url).port) });
  return {
    urls: [`nats://127.0.0.1:${detour.port}`, ...servers.slice(1).map(({ url }) => url)],
    cutOff: async (lonely: number) => {
      for (const [from, row] of proxies.entries())
        for (const [to, proxy] of row.entries()) if (from === lonely || to === lonely) proxy?.vanish();
    },
  };
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

test('stays where there is only one server', async () => {
  const { bus } = await connectToOne(1);
  let lost = 0;
  bus.onDisconnect(() => lost++);
  bus.switchServer('nothing gets done');
  await bus.nc.flush();
  expect(lost).toBe(0);
  expect(bus.connected()).toBe(true);
});
