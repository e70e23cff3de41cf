import { afterEach, expect, test } from 'vitest';
import { outcome } from '../support/clock.ts';
import { openTeam } from '../support/portal.ts';
import { allReady, atLeast, keepAway } from '../support/processes.ts';
import { openWorld, type Reply } from '../support/world.ts';

const world = await openWorld();

afterEach(async () => {
  await allReady(world);
});

test('Without access the portal says so and the interface keeps working; sessions are still valid when it is back', async () => {
  const team = await openTeam(world);
  const key = await team.owner.browser.ask('POST', '/keys', { name: 'k', scopes: ['integrations:read'] });
  expect(key.status, key.text).toBe(201);
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
  const lookup = await world.ask('/integrations/lookups/employees', { key: key.json.value });
  expect(lookup.status, lookup.text).toBe(200);
  await allReady(world, gone);
  const session = await team.owner.browser.ask('GET', '/session');
  expect(session.status, session.text).toBe(200);
});
