import { cleanUp } from '@causeway/runtime/testing';
import { Client } from 'undici';
import { expect, test } from 'vitest';
import { inOneMinute } from './support/clock.ts';
import { startGateway } from './support/gateway.ts';
import { type Browser, openTeam } from './support/portal.ts';
import { openWorld, send } from './support/world.ts';

const world = await openWorld();

const limit = 40;

/** An additional gateway of the cluster, with a small limit for members. */
const strictGateway = async () => {
  const gateway = await startGateway(world, 'strict', { RATE_LIMIT_PORTAL: String(limit) });
  const client = new Client(gateway.url);
  cleanUp(() => client.destroy());
  return (browser: Browser, path: string) =>
    send(client, `//portal/api/v1${path}`, {
      headers: { cookie: `causeway=${browser.cookie()}`, 'sec-fetch-site': 'same-origin' },
    });
};

test(
  'A signed-in member has one limit per minute over all gateways, then gets a 429 that says how long to wait',
  inOneMinute(async () => {
    const [strict, team] = [await strictGateway(), await openTeam(world)];
    const viewer = await team.join('viewer');
    // Requests that other gateways counted count here too.
    for (let at = 0; at < 10; at++) expect((await viewer.browser.ask('GET', '/session')).status).toBe(200);
    const statuses: number[] = [];
    for (let at = 0; at < limit; at++) statuses.push((await strict(viewer.browser, '/session')).status);
    const passed = statuses.filter((status) => status === 200).length;
    expect(passed).toBeLessThanOrEqual(limit - 10);
    expect(statuses).toEqual([
      ...Array.from({ length: passed }, () => 200),
      ...Array.from({ length: limit - passed }, () => 429),
    ]);
    const refused = await strict(viewer.browser, '/session');
    const seconds = Number(refused.headers['retry-after']);
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(60);
    expect([refused.status, refused.json]).toEqual([
      429,
      {
        error: `you made more than ${limit} requests this minute; wait ${seconds} s, then try again`,
        reason: 'too_many_requests',
        retryAfter: seconds,
      },
    ]);
    // The limit is per member: other members of the company are not affected.
    expect((await strict(team.owner.browser, '/session')).status).toBe(200);
  }),
);
