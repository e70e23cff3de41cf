import { expect, onTestFinished, test, vi } from 'vitest';
import { type Bus, connectBus } from './bus.ts';
import { type TestNats, testNats } from './testing/index.ts';

/** A connection that knows several servers. @returns it, with the server it is on and another. */
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
  await vi.waitFor(() => expect(tried).toHaveLength(1), 60_000);
  expect(others.some(({ url }) => url.endsWith(tried[0]!))).toBe(true);
  await bus.nc.flush();
}, 30_000);

test('moves on to another server when asked to', async () => {
  const { bus, mine, others } = await connectToOne(2);
  const back = new Promise<void>((resolve) => bus.onReconnect(resolve));
  bus.switchServer('nothing gets done');
  await back;
  expect(bus.nc.getServer()).not.toBe(new URL(mine.url).host);
  expect(bus.nc.getServer()).toBe(new URL(others[0]!.url).host);
});

test('stays where there is only one server', async () => {
  const { bus } = await connectToOne(1);
  let lost = 0;
  bus.onDisconnect(() => lost++);
  bus.switchServer('nothing gets done');
  await bus.nc.flush();
  expect(lost).toBe(0);
  expect(bus.connected()).toBe(true);
});

test('flushing and closing end quietly when the server dies meanwhile', async () => {
  const { bus, mine } = await connectToOne(1);
  await mine.pause();
  const flushed = bus.flush();
  const closed = bus.close();
  await mine.kill();
  await expect(flushed).resolves.toBeUndefined();
  await expect(closed).resolves.toBeUndefined();
});

test('a flush ends when the connection is closed meanwhile, and is empty after that', async () => {
  const { bus, mine } = await connectToOne(1);
  await mine.pause();
  const flushed = bus.flush();
  await bus.close();
  await flushed;
  await bus.flush();
});
