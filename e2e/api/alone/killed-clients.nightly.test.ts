import { expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../../proto/client/index.ts';
import { allReady, atLeast, signal } from '../support/processes.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld();

test('Gateways and crm are killed under the TypeScript client: each create is done once, and answered', {
  timeout: 300_000,
}, async () => {
  const { id, key } = await world.company({ write: 1_000_000 });
  // More retries than by default: both crm may be starting for some seconds on a slow machine.
  const causeway = createClient({ baseUrl: world.baseUrl, apiKey: (await key()).value, maxRetries: 20 });
  const gone: number[] = [];
  onTestFinished(async () => {
    await allReady(world, gone);
  });
  const victims = [...atLeast(world, 'gateway', 2), ...atLeast(world, 'crm', 1)].map(({ name }) => name);
  let made = 0;
  const write = async (writer: number): Promise<readonly number[]> => {
    const ids: number[] = [];
    for (let at = 0; at < 25; at++) {
      // Without an external_id, nothing but its Idempotency-Key tells one create from another.
      const person = { first_name: 'Ann', last_name: 'Lee', email: `${writer}.${at}@example.com` };
      ids.push((await causeway.leads.create(person)).client_id);
      made++;
    }
    return ids;
  };
  const writing = Promise.all(Array.from({ length: 16 }, (_, writer) => write(writer)));
  for (const [at, name] of victims.entries()) {
    // Each in the middle of the work.
    const enough = ((at + 1) * 350) / (victims.length + 1);
    while (made < enough) await new Promise((done) => setTimeout(done, 1));
    gone.push(signal(world, name, 'SIGKILL'));
  }
  const ids = (await writing).flat();
  expect(new Set(ids).size).toBe(400);
  const [row] = await world.sql<{ count: number }>(
    'SELECT COUNT(*) AS count FROM clients WHERE company_id = ?',
    [id],
  );
  expect(row!.count).toBe(400);
});
