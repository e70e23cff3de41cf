import { type LoggedRequest, requestsLoggedSubject } from '@causeway/proto';
import { connectBus, createMetrics } from '@causeway/runtime';
import { cleanUp, testNats } from '@causeway/runtime/testing';
import { expect, test, vi } from 'vitest';
import { type NotedRequest, openRequestLog } from './request-log.ts';

const open = async (options: { roundMs?: number } = {}) => {
  const nats = await testNats();
  const [bus, observer] = await Promise.all(
    ['gateway', 'access'].map((name) => connectBus({ url: nats.url, name })),
  );
  cleanUp(async () => void (await Promise.all([bus!.close(), observer!.close()])));
  const metrics = createMetrics();
  const rows: LoggedRequest[] = [];
  const longest = { rows: 0 };
  observer!.nc.subscribe(requestsLoggedSubject, {
    callback: (_, message) => {
      const report = message.json<LoggedRequest[]>();
      longest.rows = Math.max(longest.rows, report.length);
      rows.push(...report);
    },
  });
  await observer!.nc.flush();
  const dropped = async (): Promise<number> => {
    const [metric] = (await metrics.registry.getMetricsAsJSON()).filter(({ name }) => /dropped/.test(name));
    return metric!.values[0]!.value;
  };
  return { nats, bus: bus!, log: openRequestLog({ bus: bus!, metrics, ...options }), rows, longest, dropped };
};

const request = (more: Partial<NotedRequest> = {}): NotedRequest => ({
  companyId: 1,
  keyId: 1,
  isPrevious: false,
  operation: 'getLead',
  method: 'GET',
  params: ['12'],
  status: 200,
  durationMs: 3,
  requestId: 'r-1',
  address: '203.0.113.7',
  bucket: 'read',
  ...more,
});
const countOf = (rows: readonly LoggedRequest[]): number =>
  rows.reduce((sum, row) => sum + Number(row.at(-1)), 0);

test('a flood from all keys of a company takes no request id from another one, and no request is uncounted', async () => {
  const { log, rows } = await open();
  for (let round = 0; round < 100; round++)
    for (let keyId = 1; keyId <= 200; keyId++) log.note(request({ keyId }));
  log.note(request({ companyId: 2, keyId: 900, requestId: 'theirs' }));
  await expect.poll(() => countOf(rows)).toBe(20_001);
  expect(rows.filter(([company]) => company === 2)).toMatchObject([{ 6: '12', 9: 'theirs', 13: 1 }]);
  // Two rounds at most, if one ended meanwhile.
  expect(rows.length).toBeLessThan(2 * (5_000 + 2 * 200));
});

test('what a key asks for all the time costs few rows; its first requests have a row each, soon', async () => {
  const { log, rows } = await open();
  for (let serial = 0; serial < 10_000; serial++) log.note(request({ requestId: `r-${serial}` }));
  await expect.poll(() => rows.length, { timeout: 5_000 }).toBeGreaterThanOrEqual(100);
  expect(rows.slice(0, 100).map((row) => row[9])).toEqual(Array.from({ length: 100 }, (_, at) => `r-${at}`));
  await expect.poll(() => countOf(rows)).toBe(10_000);
  // A round or a minute may have ended meanwhile.
  expect(rows.length).toBeLessThanOrEqual(203);
});

test('requests that share a row show where the first of them came from', async () => {
  const { log, rows } = await open();
  for (let serial = 0; serial < 150; serial++) log.note(request());
  for (const address of ['198.51.100.1', '198.51.100.2'])
    log.note(request({ operation: '', status: 403, params: [], requestId: `from ${address}`, address }));
  await expect.poll(() => countOf(rows)).toBe(152);
  // Two rows, if a round ended meanwhile.
  expect(rows.find(([, , , , operation]) => operation === '')).toMatchObject({
    9: 'from 198.51.100.1',
    10: '198.51.100.1',
  });
});

test('requests of two minutes share no row', async () => {
  const { log, rows } = await open();
  vi.useFakeTimers({ toFake: ['Date'] });
  cleanUp(async () => void vi.useRealTimers());
  const minuteMs = Date.UTC(2030, 0, 1);
  for (const ms of [minuteMs - 1, minuteMs]) {
    vi.setSystemTime(ms);
    for (let serial = 0; serial < 150; serial++) log.note(request());
  }
  await expect.poll(() => countOf(rows)).toBe(300);
  expect(countOf(rows.filter((row) => row[2] < minuteMs))).toBe(150);
});

test.each([1_000, 1_001])(
  'of %i keys, the further requests wait for a long round if they are over 1,000',
  async (keys) => {
    const roundMs = 1_000;
    const { log, rows } = await open({ roundMs });
    const beganMs = performance.now();
    for (let serial = 0; serial < 7 * keys; serial++) log.note(request({ keyId: 1 + (serial % keys) }));
    await expect.poll(() => countOf(rows), { timeout: 20_000 }).toBe(7 * keys);
    expect(performance.now() - beganMs > 5 * roundMs).toBe(keys > 1_000);
  },
);

test('more kinds of requests than can wait are sent at once, none uncounted', async () => {
  const { log, rows, dropped } = await open();
  for (let serial = 0; serial < 60_000; serial++)
    log.note(request({ keyId: 1 + (serial % 100), status: 200 + Math.floor(serial / 100) }));
  await expect.poll(() => countOf(rows)).toBe(60_000);
  expect(await dropped()).toBe(0);
});

test('while NATS is away, what waits is bounded, is sent in parts afterwards, and what is dropped is counted', async () => {
  const { nats, bus, log, rows, longest, dropped } = await open();
  await nats.kill();
  await expect.poll(() => bus.connected()).toBe(false);
  const total = 300_000;
  for (let serial = 0; serial < total; serial++)
    log.note(request({ keyId: 1 + (serial % 5_000), status: 200 + (serial % 301) }));
  expect(await dropped()).toBeGreaterThan(0);
  await nats.restart();
  await expect.poll(async () => countOf(rows) + (await dropped())).toBe(total);
  expect(rows.length).toBeLessThanOrEqual(20_000);
  expect(longest.rows).toBeLessThanOrEqual(2_000);
});
