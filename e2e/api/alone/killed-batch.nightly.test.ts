import { randomUUID } from 'node:crypto';
import { until } from '@causeway/runtime/testing/until';
import { expect, onTestFinished, test } from 'vitest';
import { outcome } from '../support/clock.ts';
import { allReady, processesOf, signal } from '../support/processes.ts';
import { type Json, openWorld, type Reply } from '../support/world.ts';

const world = await openWorld();

test('Every crm is killed in the middle of a batch: sent again with its key, each item is done once and answered', {
  timeout: 300_000,
}, async () => {
  onTestFinished(async () => {
    await allReady(world);
  });
  const { id, key: newKey } = await world.company({ write: 1_000_000, read: 1_000_000 });
  const key = (await newKey()).value;
  const made = async (): Promise<number> => {
    const [row] = await world.sql<{ count: number }>(
      'SELECT COUNT(*) AS count FROM clients WHERE company_id = ?',
      [id],
    );
    return row!.count;
  };
  let interrupted = 0;
  for (let round = 0; round < 12 && interrupted < 3; round++) {
    const before = await made();
    // Nothing but the key tells one of them from another.
    const items = Array(100).fill({ first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com' });
    const body = JSON.stringify({
      mode: 'create',
      items: items.map((one, at) => ({ ...one, email: `${round}.${at}@example.com` })),
    });
    const headers = { 'Idempotency-Key': randomUUID() };
    const send = () =>
      outcome(world.ask('/integrations/clients/batch', { method: 'POST', key, headers, body }));
    const first = send();
    await until('the batch is under way', async () => (await made()) > before, { everyMs: 1 });
    const gone = processesOf(world, 'crm').map(({ name }) => signal(world, name, 'SIGKILL'));
    const done = (await made()) - before;
    if (done < 100) interrupted++;
    const answered = await first;
    await allReady(world, gone);
    let reply = answered as Reply;
    await until('the batch is answered', async () => {
      reply = (await send()) as Reply;
      return reply.status === 200 && reply.json.results.every(({ status }: Json) => status === 201);
    });
    // What was answered before the retry is answered by it too.
    if ((answered as Reply).status === 200)
      for (const [index, one] of (answered as Reply).json.results.entries())
        if (one.status === 201) expect(reply.json.results[index]).toEqual(one);
    const ids = reply.json.results.map(({ body }: Json) => body.client_id);
    expect(new Set(ids).size).toBe(100);
    expect((await made()) - before).toBe(100);
  }
  expect(interrupted).toBeGreaterThan(0);
  const events = await world.sql<{ payload: Buffer }>('SELECT payload FROM events WHERE company_id = ?', [
    id,
  ]);
  const clients = new Set(events.map(({ payload }) => JSON.parse(payload.toString()).client_id));
  expect(events).toHaveLength(await made());
  expect(clients.size).toBe(events.length);
});
