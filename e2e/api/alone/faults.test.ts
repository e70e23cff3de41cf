import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@causeway/runtime/testing/until';
import { afterEach, expect, test } from 'vitest';
import { outcome } from '../support/clock.ts';
import { endOf, ends, type Load, type Shot, startLoad } from '../support/load.ts';
import { openTeam } from '../support/portal.ts';
import { allReady, atLeast, keepAway, metric, signal, sumOf } from '../support/processes.ts';
import { openWorld, type Reply } from '../support/world.ts';

const world = await openWorld();

const lookup = '/integrations/lookups/employees';
const find = '/integrations/clients/find?client_id=1';
const unlimited = { read: 1_000_000_000 };

// The next test, and the next file, need a healthy cluster.
afterEach(async () => {
  await allReady(world);
});

/** Resolves when the cluster answers requests with this key again. */
const answersAgain = (key: string): Promise<boolean> =>
  until('requests are answered again', async () => {
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => world.ask(lookup, { key }).catch(() => undefined)),
    );
    return replies.every((reply) => reply?.status === 200);
  });

const expectRetryable = (reply: Reply, reason: string): void => {
  expect(reply.status).toBe(503);
  expect(reply.json.reason).toBe(reason);
  expect(reply.headers['retry-after']).toBe('1');
  const rateLimit = Object.keys(reply.headers).filter((name) => name.includes('ratelimit'));
  expect(rateLimit).toHaveLength(reason === 'service_unavailable' ? 7 : 0);
};

test('While NATS is down every request gets 503 at once, and requests succeed again when NATS is back', async () => {
  const { value: key } = await (await world.company(unlimited)).key();
  await answersAgain(key);
  const load = await startLoad(world, find, { key }, 8);
  // A gateway counts what it refuses without waiting. Without NATS for seconds, it does not trust its keys any more.
  const disconnected = () => sumOf(world, 'gateway', 'limit_batches_total', 'outcome="disconnected"');
  const before = await disconnected();
  const atOnce = async (): Promise<number> => (await disconnected()) - before;
  const untrusted = (): number => load.shots.filter((shot) => endOf(shot) === '503 keys_unavailable').length;
  let inLookupShape: Reply | undefined;
  let isAsked = false;
  const gone = await keepAway(world, ['nats'], async () => {
    if (!isAsked && inLookupShape === undefined) {
      isAsked = true;
      void outcome(world.ask(lookup, { key })).then((one) => {
        isAsked = false;
        if (!(one instanceof Error) && one.json.error_code === 'lock_timeout') inLookupShape = one;
      });
    }
    return inLookupShape !== undefined && (await atOnce()) + untrusted() >= 100;
  });
  expect((await world.ask(lookup, { key: 'nonsense' })).status).toBe(401);
  await allReady(world, gone);
  await answersAgain(key);
  const shots = await load.stop();

  const refused = shots.filter((shot) => endOf(shot) === '503 lock_timeout');
  expect(refused.length).toBeGreaterThan(0);
  for (const { reply } of refused) {
    expectRetryable(reply as Reply, 'lock_timeout');
    expect((reply as Reply).json).toEqual({
      error: 'the rate limit could not be checked in time',
      reason: 'lock_timeout',
      retryAfter: 1,
      message: 'This is not a rate-limit violation. Retry after 1-2 seconds.',
    });
  }
  expectRetryable(inLookupShape as Reply, 'lock_timeout');
  expect(inLookupShape?.json).toEqual({
    error_code: 'lock_timeout',
    message: 'the rate limit could not be checked in time',
    reason: 'lock_timeout',
    retryAfter: 1,
  });
  // Only requests of the first 500 ms of an absence wait.
  expect((await atOnce()) + untrusted()).toBeGreaterThan((refused.length + untrusted()) / 2);
  const allowed = [
    '200',
    '503 lock_timeout',
    '503 keys_unavailable',
    '503 service_unavailable',
    '504 timeout',
  ];
  expect(allowed).toEqual(expect.arrayContaining(Object.keys(ends(shots))));
});

test('While the gateway that counts all requests, or NATS, stands still for a second and a half, requests wait', async () => {
  const { value: key } = await (await world.company(unlimited)).key();
  await answersAgain(key);
  const gateways = atLeast(world, 'gateway', 2);
  const owns = await Promise.all(gateways.map((gateway) => metric(gateway, 'limit_owner')));
  const load = await startLoad(world, find, { key }, 16);
  for (const name of [gateways[owns.indexOf(1)]!.name, 'nats']) {
    signal(world, name, 'SIGSTOP');
    await sleep(1_500); // As a busy machine does.
    signal(world, name, 'SIGCONT');
    const { length } = load.shots;
    await until('more answers', () => load.shots.length >= length + 100);
  }
  expect(Object.keys(ends(await load.stop()))).toEqual(['200']);
});

test('Without crm a request gets 503 service_unavailable with rate-limit headers, or 504 if crm died during it; later requests succeed', async () => {
  const { value: key } = await (await world.company(unlimited)).key();
  const both = atLeast(world, 'crm', 2).map(({ name }) => name);
  const over = await startLoad(world, find, { key }, 8);
  // Requests that it died during wait for their deadline, so other requests must be sent meanwhile.
  const refused = ({ shots }: Load): readonly Shot[] =>
    shots.filter((shot) => endOf(shot) === '503 service_unavailable');
  const meanwhile = await startLoad(world, find, { key }, 2);
  const gone = await keepAway(world, both, () => refused(meanwhile).length > 0);
  await allReady(world, gone);
  await answersAgain(key);
  const shots = [...(await over.stop()), ...(await meanwhile.stop())];
  const unavailable = [...refused(over), ...refused(meanwhile)];
  // A gateway may still be reading its key table after what earlier tests did to NATS.
  expect(['200', '503 service_unavailable', '504 timeout', '503 keys_unavailable']).toEqual(
    expect.arrayContaining(Object.keys(ends(shots))),
  );
  for (const { reply } of unavailable) {
    expectRetryable(reply as Reply, 'service_unavailable');
    expect((reply as Reply).json).toEqual({
      error: 'the service is not available at the moment',
      reason: 'service_unavailable',
    });
  }
});

test('When one of two crm is killed, only the calls that it had taken fail', async () => {
  const { value: key } = await (await world.company(unlimited)).key();
  const load = await startLoad(world, find, { key }, 8);
  const gone = signal(world, 'crm-1', 'SIGKILL');
  await allReady(world, [gone]);
  const shots = await load.stop();
  expect(['200', '504 timeout']).toEqual(expect.arrayContaining(Object.keys(ends(shots))));
  expect(ends(shots)['504 timeout'] ?? 0).toBeLessThanOrEqual(8);
});

test('Without access nothing changes for callers, and the portal says so; commands and sessions work when it is back', async () => {
  const team = await openTeam(world);
  const company = await world.company(unlimited);
  const { value: key } = await company.key();
  const load = await startLoad(world, lookup, { key }, 4);
  const names = atLeast(world, 'access', 2).map(({ name }) => name);
  let seen: Reply | undefined;
  let busy = false;
  const gone = await keepAway(world, names, () => {
    if (!busy && seen === undefined) {
      busy = true;
      void outcome(team.owner.browser.ask('GET', '/session')).then((reply) => {
        busy = false;
        if (!(reply instanceof Error) && reply.status === 503) seen = reply;
      });
    }
    return seen !== undefined;
  });
  expect(seen!.json).toEqual({ error: expect.any(String), reason: 'service_unavailable' });
  expect(seen!.headers['retry-after']).toBe('1');
  await allReady(world, gone);
  expect(Object.keys(ends(await load.stop()))).toEqual(['200']);
  const session = await team.owner.browser.ask('GET', '/session');
  expect(session.status, session.text).toBe(200);
  const { id, value } = await company.key();
  expect((await world.ask(lookup, { key: value })).status).toBe(200);
  await world.operator.ask('revokeKey', { id });
  expect((await world.ask(lookup, { key: value })).status).toBe(401);
});

test('Without MySQL lookups fail with documented errors and recover by themselves', async () => {
  const { value: key } = await (await world.company(unlimited)).key();
  const load = await startLoad(world, find, { key }, 4);
  const gone = signal(world, 'mysql', 'SIGKILL');
  await allReady(world, [gone]);
  await answersAgain(key);
  const seen = ends(await load.stop());
  expect(seen['200']).toBeGreaterThan(0);
  expect(['200', '503 service_unavailable', '504 timeout']).toEqual(
    expect.arrayContaining(Object.keys(seen)),
  );
});
