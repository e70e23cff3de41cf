import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@causeway/runtime/testing/until';
import { afterEach, expect, test } from 'vitest';
import { ends, startLoad } from '../support/load.ts';
import { allReady, atLeast, processesOf, signal } from '../support/processes.ts';
import { rawRequest, rawSocket } from '../support/raw.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld();

const lookup = '/integrations/lookups/employees';
const unlimited = { read: 1_000_000_000 };

afterEach(async () => {
  await allReady(world);
});

test('A gateway that stops under load fails no request, and its clients reconnect to others', async () => {
  atLeast(world, 'gateway', 3);
  const { value: key } = await (await world.company(unlimited)).key();
  const load = await startLoad(world, lookup, { key }, 24);
  const gone: number[] = [];
  for (const { name } of processesOf(world, 'gateway').slice(0, 2)) {
    gone.push(signal(world, name, 'SIGTERM'));
    // The second stops while the first drains.
    await sleep(300);
  }
  await allReady(world, gone);
  const shots = await load.stop();
  expect(ends(shots)).toEqual({ 200: shots.length });
});

test('A gateway that stops answers its held requests at once; others outlive the killed service that they follow', async () => {
  atLeast(world, 'gateway', 3);
  const company = await world.company({ ...unlimited, write: 1_000 });
  const keys = await Promise.all(Array.from({ length: 10 }, () => company.key()));
  const { nextCursor } = (await world.ask('/integrations/changes', { key: keys[0]!.value })).json;
  const feed = `/integrations/changes?cursor=${nextCursor}`;
  const fromMs = performance.now();
  let answered = 0;
  const held = [...keys, ...keys].map(async ({ value }) => {
    const reply = await world.ask(`${feed}&wait=25`, { key: value });
    answered++;
    return reply;
  });
  // Longer than an answer takes that does not wait.
  await sleep(500);
  expect(answered).toBe(0);
  const stopping = processesOf(world, 'gateway').slice(0, -1);
  const gone = stopping.map(({ name }) => signal(world, name, 'SIGTERM'));
  await until('answers', () => answered > 0);
  expect(performance.now() - fromMs).toBeLessThan(20_000);
  for (const { name } of processesOf(world, 'crm')) gone.push(signal(world, name, 'SIGKILL'));
  await allReady(world, gone);
  const body = JSON.stringify({ first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' });
  const made = await world.ask('/integrations/leads', { method: 'POST', key: keys[0]!.value, body });
  expect(made.status).toBe(201);
  for (const { status, json } of await Promise.all(held)) {
    expect(status).toBe(200);
    const rest = await world.ask(`/integrations/changes?cursor=${json.nextCursor}`, { key: keys[0]!.value });
    expect([...json.changes, ...rest.json.changes]).toHaveLength(1);
  }
});

test('A stopping gateway tells each client with an open connection once, then closes the connection', async () => {
  const gateways = atLeast(world, 'gateway', 3);
  const clients = Array.from({ length: 24 }, () => keepAsking(world.baseUrl));
  await until('all are connected', () => clients.every(({ answers }) => answers.length > 0));
  const gone = signal(world, gateways[1]?.name ?? '', 'SIGTERM');
  await allReady(world, [gone]);

  const told = clients.filter(({ answers }) => answers.some((answer) => closes.test(answer)));
  const others = clients.filter((client) => !told.includes(client));
  expect(told.length).toBeGreaterThan(0);
  expect(others.length).toBeGreaterThan(0);
  for (const { answers, socket } of told) {
    // The answer is complete, it is the last, and the connection ended after it.
    expect(answers.filter((answer) => closes.test(answer))).toHaveLength(1);
    expect(answers.at(-1)).toMatch(closes);
    expect(socket.closed).toBe(true);
  }
  for (const { socket } of others) expect(socket.closed).toBe(false);
  for (const { socket, failures } of clients) {
    socket.destroy();
    expect(failures).toEqual([]);
  }
});

const closes = /\r\nconnection: close\r\n/i;

/** Sends requests on one connection, one after another, until it is closed. */
const keepAsking = (baseUrl: string) => {
  const socket = rawSocket(baseUrl);
  const answers: string[] = [];
  const failures: Error[] = [];
  let text = '';
  const ask = () => socket.write(rawRequest('GET /api/v1/integrations/lookups/employees HTTP/1.1', []));
  socket.on('error', (error) => failures.push(error));
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    if (!text.endsWith('"missing or invalid API key"}')) return;
    answers.push(text);
    if (!closes.test(text)) setTimeout(ask, 20);
    text = '';
  });
  ask();
  return { socket, answers, failures };
};

test('A crm that stops under load finishes its calls and fails none', async () => {
  atLeast(world, 'crm', 2);
  const { value: key } = await (await world.company(unlimited)).key();
  const load = await startLoad(world, '/integrations/lookups/clients?q=an', { key }, 16);
  const gone = signal(world, 'crm-1', 'SIGTERM');
  await allReady(world, [gone]);
  const shots = await load.stop();
  expect(ends(shots)).toEqual({ 200: shots.length });
});

test('An access that stops finishes the calls of operators, and API callers notice nothing', async () => {
  atLeast(world, 'access', 2);
  const company = await world.company(unlimited);
  const { value: key } = await company.key();
  const load = await startLoad(world, lookup, { key }, 4);
  let stopped = false;
  let made = 0;
  const operators = Array.from({ length: 4 }, async () => {
    for (; !stopped; made++) {
      const { id, value } = await company.key(['integrations:read']);
      expect((await world.ask(lookup, { key: value })).status).toBe(200);
      await world.operator.ask('revokeKey', { id });
      await sleep(20);
    }
  });
  const gone = signal(world, 'access-1', 'SIGTERM');
  await allReady(world, [gone]);
  stopped = true;
  await Promise.all(operators);
  const shots = await load.stop();
  expect(ends(shots)).toEqual({ 200: shots.length });
  expect(made).toBeGreaterThan(4);
});
