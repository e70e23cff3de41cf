import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@causeway/runtime/testing/until';
import { Client } from 'undici';
import { describe, expect, test } from 'vitest';
import { outcome } from '../support/clock.ts';
import { ends, startLoad } from '../support/load.ts';
import { allReady, atLeast, signal } from '../support/processes.ts';
import { openWorld, type Reply, send } from '../support/world.ts';

const world = await openWorld();

const lookup = '/integrations/lookups/employees';
const unlimited = { read: 1_000_000_000 };

const statusOf = (reply: Reply | Error): number | string =>
  reply instanceof Error ? reply.message : reply.status;

test('No request that is sent after a revocation returned succeeds with the key, on several gateways under load', async () => {
  atLeast(world, 'gateway', 3);
  const company = await world.company(unlimited);
  for (let round = 0; round < 12; round++) {
    const { id, value } = await company.key(['integrations:read']);
    const load = await startLoad(world, lookup, { key: value }, 24);
    const revokeSentMs = performance.now();
    await world.operator.ask('revokeKey', { id });
    const revokedMs = performance.now();
    await until('it is used after that', () => load.shots.some(({ sentMs }) => sentMs > revokedMs), {
      everyMs: 5,
    });
    const shots = await load.stop();

    const before = shots.filter(({ sentMs, elapsedMs }) => sentMs + elapsedMs < revokeSentMs);
    const after = shots.filter(({ sentMs }) => sentMs > revokedMs);
    expect(before.length).toBeGreaterThan(0);
    expect(after.length).toBeGreaterThan(0);
    expect(Object.keys(ends(before))).toEqual(['200']);
    expect(Object.keys(ends(after)), `round ${round}`).toEqual(['401']);
  }
});

describe('A gateway that is frozen while a key is revoked', () => {
  test.each([
    ['one gateway', (names: readonly string[]) => names.slice(0, 1)],
    ['all gateways', (names: readonly string[]) => names],
  ])('never accepts it afterwards: %s', async (_, choose) => {
    const names = choose(atLeast(world, 'gateway', 3).map(({ name }) => name));
    const { id, value } = await (await world.company(unlimited)).key(['integrations:read']);
    // Connections opened before: some lead to the frozen gateway, which finds their requests when it wakes up.
    const clients = Array.from({ length: 32 }, () => new Client(world.baseUrl, { pipelining: 1 }));
    try {
      const before = await Promise.all(clients.map((client) => send(client, lookup, { key: value })));
      expect(new Set(before.map(statusOf))).toEqual(new Set([200]));

      for (const name of names) signal(world, name, 'SIGSTOP');
      let waiting: Promise<Reply | Error>[];
      try {
        await world.operator.ask('revokeKey', { id });
        waiting = clients.map((client) => outcome(send(client, lookup, { key: value })));
        // Time for the requests to reach the frozen gateway's socket.
        await sleep(100);
      } finally {
        for (const name of names) signal(world, name, 'SIGCONT');
      }
      const first = (await Promise.all(waiting)).map(statusOf);
      expect(first).not.toContain(200);
      // A gateway that was frozen may answer 503 until it has caught up; after that every gateway answers 401.
      await until('every gateway refuses the key', async () => {
        const later = await Promise.all(
          clients.map((client) => outcome(send(client, lookup, { key: value }))),
        );
        expect(later.map(statusOf)).not.toContain(200);
        return later.every((reply) => statusOf(reply) === 401);
      });
    } finally {
      await Promise.all(clients.map((client) => client.destroy()));
      await allReady(world);
    }
  });
});
