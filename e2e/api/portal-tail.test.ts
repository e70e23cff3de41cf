import { deliveryTailSubject } from '@causeway/proto';
import { connectBus } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { startGateway } from './support/gateway.ts';
import { type Browser, openBrowser, openTeam } from './support/portal.ts';
import { metric } from './support/processes.ts';
import { openWorld } from './support/world.ts';

const world = await openWorld();
const bus = await connectBus({ url: world.stack().natsUrl, name: 'operator' });
cleanUp(() => bus.close());

/** The data that a browser's EventSource would have received so far. */
const openTail = async (browser: Browser, baseUrl = world.baseUrl) => {
  const { statusCode, headers, body } = await request(`${baseUrl}/portal/api/v1/deliveries/tail`, {
    headers: { cookie: `causeway=${browser.cookie()}` },
    bodyTimeout: 0,
  });
  const tail = { status: statusCode, headers, text: '', ended: false, close: () => body.destroy() };
  cleanUp(() => void body.destroy());
  body.on('data', (chunk: Buffer) => {
    tail.text += chunk;
  });
  body.on('error', () => {});
  body.on('close', () => {
    tail.ended = true;
  });
  return tail;
};

const entry = (eventId: number) => ({
  eventId,
  subscriptionId: 1,
  replayId: 0,
  eventType: 'client.created',
  attempt: 1,
  state: 'succeeded',
  statusCode: 200,
  errorClass: null,
  elapsedMs: 12,
  startedUtc: new Date().toISOString(),
  nextAttemptUtc: null,
});
const publish = (companyId: number, ids: readonly number[]): void =>
  bus.nc.publish(deliveryTailSubject(companyId), JSON.stringify(ids.map(entry)));

test('A tail shows the attempts of its own company as they happen, and no others', async () => {
  const [ours, theirs] = [await openTeam(world), await openTeam(world)];
  const tails = [await openTail(ours.owner.browser), await openTail(ours.owner.browser)];
  const other = await openTail(theirs.owner.browser);
  const all = [...tails, other];
  await until('all are ready', () => all.every(({ text }) => text.includes('event: ready')));
  expect(tails[0]!.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  publish(ours.companyId, [1, 2]);
  publish(theirs.companyId, [77]);
  await until('all have heard', () => all.every(({ text }) => text.includes('event: attempts')));
  for (const { text } of tails) {
    const data = /event: attempts\ndata: (.*)\n\n/.exec(text)![1]!;
    expect(JSON.parse(data).map(({ eventId }: { eventId: number }) => eventId)).toEqual([1, 2]);
    expect(text).not.toContain('"eventId":77');
  }
});

test('A tail without events stays open, and ends at once with its session', async () => {
  const { owner } = await openTeam(world);
  const second = openBrowser(world);
  await second.signIn(owner);
  const [gone, stays] = [await openTail(second), await openTail(owner.browser)];
  await until('it has beaten twice', () => (gone.text.match(/: beat/g)?.length ?? 0) >= 2, {
    timeoutMs: 20_000,
  });
  await owner.browser.ask('POST', '/profile/sessions/revoke-others');
  await until('it has ended', () => gone.ended, { timeoutMs: 2000 });
  expect(gone.text).toMatch(/event: end\ndata: \{\}\n\n$/);
  expect(stays.ended).toBe(false);
});

test('A tail ends when its session expires', async () => {
  const { companyId, owner } = await openTeam(world);
  const tail = await openTail(owner.browser);
  await world.sql(
    'UPDATE portal_sessions SET created_utc = created_utc - INTERVAL 25 HOUR WHERE company_id = ? AND user_id = ?',
    [companyId, owner.id],
  );
  await until('it has ended', () => tail.ended, { timeoutMs: 12_000 });
  expect(tail.text).toContain('event: end');
});

test('A tail requires a session, and the tails of a session are limited', async () => {
  expect((await openTail(openBrowser(world))).status).toBe(401);
  const { owner } = await openTeam(world);
  const tails = await Promise.all(Array.from({ length: 40 }, () => openTail(owner.browser)));
  const open = tails.filter(({ status }) => status === 200).length;
  // Four on each of four gateways.
  expect(open).toBeLessThanOrEqual(16);
  expect(new Set(tails.map(({ status }) => status))).toEqual(new Set([200, 429]));
  const refused = tails.find(({ status }) => status === 429)!;
  await until('it says why', () => refused.text.endsWith('}'));
  expect(JSON.parse(refused.text)).toEqual({
    error: '4 live views are open in this session already; close one and connect again',
    reason: 'too_many_requests',
    limit: 4,
  });
  for (const tail of tails) tail.close();
  await until('there is room again', async () => {
    const again = await openTail(owner.browser);
    return again.status === 200;
  });
});

test('A company with many sessions uses up only its own tails', async () => {
  const gateway = await startGateway(world, 'with-few-tails', { TAILS_MAX: '20', TAILS_PER_COMPANY: '6' });
  const [hostile, other] = [await openTeam(world), await openTeam(world)];
  const browsers = [hostile.owner.browser];
  for (let at = 0; at < 3; at++) {
    const browser = openBrowser(world);
    await browser.signIn(hostile.owner);
    browsers.push(browser);
  }
  const tails = [];
  for (const browser of browsers)
    for (let at = 0; at < 3; at++) tails.push(await openTail(browser, gateway.url));
  expect(tails.map(({ status }) => status)).toEqual([...Array(6).fill(200), ...Array(6).fill(429)]);
  const refused = tails.at(-1)!;
  await until('it says why', () => refused.text.endsWith('}'));
  expect(JSON.parse(refused.text)).toMatchObject({
    error: 'your company has 6 live views open already; close one and connect again',
    limit: 6,
  });
  expect((await openTail(other.owner.browser, gateway.url)).status).toBe(200);
  tails[0]!.close();
  await until('there is room again', async () => {
    const again = await openTail(browsers[3]!, gateway.url);
    return again.status === 200;
  });
});

test('A session is resolved once for all its tails', async () => {
  const gateway = await startGateway(world, 'watched', {});
  const { owner } = await openTeam(world);
  const tails = await Promise.all(Array.from({ length: 4 }, () => openTail(owner.browser, gateway.url)));
  expect(tails.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const beats = (): number => Math.min(...tails.map(({ text }) => text.match(/: beat/g)?.length ?? 0));
  const calls = () => metric(gateway.process, 'lane_client_calls_total', 'access');
  await until('all have beaten', () => beats() >= 1, { timeoutMs: 20_000 });
  const [beatsBefore, callsBefore] = [beats(), await calls()];
  await until('they have beaten twice more', () => beats() >= beatsBefore + 2, { timeoutMs: 40_000 });
  const beaten = beats() - beatsBefore;
  // One more heartbeat may have begun at either end.
  expect((await calls()) - callsBefore).toBeLessThanOrEqual(beaten + 2);
});
