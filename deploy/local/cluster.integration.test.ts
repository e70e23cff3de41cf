import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { runtimeMetrics } from '@causeway/runtime';
import { beforeAll, describe, expect, test } from 'vitest';
import { declaredMetrics } from '../monitoring/testing/metrics.ts';
import { readStack, type Stack } from './home.ts';
import { freePort } from './ports.ts';
import {
  command,
  lookUpEmployees,
  newHome,
  nothingLeft,
  processesAbout,
  startDetached,
} from './testing/commands.ts';

const listTools = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

describe('a running stack', () => {
  const home = newHome();
  let port = 0;
  let stack: Stack;

  beforeAll(async () => {
    port = await freePort();
    stack = await startDetached(home, port);
  });

  test('describes itself in stack.json, for its owner only', () => {
    expect(statSync(join(home, 'stack.json')).mode & 0o777).toBe(0o600);
    expect(stack).toMatchObject({
      baseUrl: `http://127.0.0.1:${port}`,
      portalUrl: expect.stringContaining(`http://127.0.0.1:${port}/`),
      apiKey: expect.stringMatching(/^crm_\d+_[A-Za-z0-9]+$/),
      portalEmail: expect.stringContaining('@'),
      portalPassword: expect.stringMatching(/^.{12,}$/),
      mysqlUrl: expect.stringMatching(/^mysql:\/\/causeway:.+@127\.0\.0\.1:\d+\/causeway$/),
      receiverUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/),
      natsUrl: expect.stringMatching(/^nats:\/\/operator:.+@127\.0\.0\.1:\d+$/),
    });
    const names = stack.processes.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['mysql', 'nats', 'access-1', 'crm-1', 'gateway-1']));
    for (const { pid } of stack.processes) expect(() => process.kill(pid as number, 0)).not.toThrow();
  });

  test('exports each declared metric where stack.json says', async () => {
    // The first call starts the process that serves agents.
    expect(readStack(home)?.processes.map(({ name }) => name)).not.toContain('agents-1');
    const list = { method: 'POST', headers: { 'X-Api-Key': stack.apiKey }, body: listTools };
    expect((await fetch(`${stack.baseUrl}/mcp`, list)).status).toBe(200);
    const services = readStack(home)!.processes.filter(({ name }) =>
      /^(access|agents|crm|dispatcher|gateway|webhooks)-/.test(name),
    );
    expect(services).toHaveLength(6);
    const texts = await Promise.all(
      services.map(async ({ metricsUrl }) => (await fetch(`${metricsUrl}/metrics`)).text()),
    );
    for (const text of texts) expect(text).toContain('process_cpu');
    const all = texts.join('\n');
    // This cluster has one NATS server.
    const expected = declaredMetrics.filter(({ name }) => name !== runtimeMetrics.nats_standby_ready.name);
    expect(
      expected
        .filter(({ name, type }) => !all.includes(`\n# TYPE ${name} ${type}\n`))
        .map(({ name }) => name),
    ).toEqual([]);
  });

  test('has a receiver that accepts webhooks and logs them', async () => {
    const delivery = {
      method: 'POST',
      headers: { 'X-Webhook-Id': '7', 'X-Webhook-Event': 'client.created' },
    };
    expect((await fetch(`${stack.receiverUrl}hook`, delivery)).status).toBe(200);
    const log = () => readFileSync(join(home, 'logs', 'receiver.log'), 'utf8');
    await expect.poll(() => log()).toMatch(/ {2}client\.created {2}event 7 {2}.*→ 200\n/);
  });

  test('cannot be started a second time; the answer says where it runs', async () => {
    const { code, text } = await command('start.ts', home, '--port', String(await freePort())).ended;
    expect(code).toBe(1);
    expect(text).toContain(`already runs, at http://127.0.0.1:${port}`);
  });

  test('keeps its port: a second stack on it fails with one sentence, and leaves nothing behind', async () => {
    const other = newHome();
    const { code, text } = await command('start.ts', other, '--port', String(port)).ended;
    expect(code).toBe(1);
    expect(text).toMatch(new RegExp(`✗ Port ${port} is taken: .*--port ${port + 1}`));
    await nothingLeft(other);
  });

  test('restarts a gateway after a kill, and stack.json names the new process', async () => {
    const pidOf = () => readStack(home)?.processes.find(({ name }) => name === 'gateway-1')?.pid as number;
    const before = pidOf();
    process.kill(before, 'SIGKILL');
    await expect.poll(() => pidOf()).not.toBe(before);
    await expect.poll(() => lookUpEmployees(stack)).toMatchObject({ status: 200 });
  });

  test('leaves no process when its supervisor is killed, and the next start has the same key and data', async () => {
    const { count } = await lookUpEmployees(stack);
    expect(processesAbout(home).length).toBeGreaterThanOrEqual(stack.processes.length);
    process.kill(Number(readFileSync(join(home, 'supervisor.pid'), 'utf8')), 'SIGKILL');
    await nothingLeft(home);
    const again = await startDetached(home, port);
    expect(again.apiKey).toBe(stack.apiKey);
    // Subscriptions to it are kept too.
    expect(again.receiverUrl).toBe(stack.receiverUrl);
    expect(await lookUpEmployees(again)).toEqual({ status: 200, count });
  });

  test('is stopped by a command, which leaves no process', async () => {
    expect((await command('stop.ts', home).ended).text).toContain('Stopped');
    await nothingLeft(home);
    expect(existsSync(join(home, 'stack.json'))).toBe(false);
    expect((await command('stop.ts', home).ended).text).toContain('Nothing runs');
  });
});

test('a Ctrl-C in the middle of a start leaves nothing running', async () => {
  const home = newHome();
  const run = command('start.ts', home, '--port', String(await freePort()));
  await expect.poll(() => run.said.text).toContain('schema');
  run.child.kill('SIGINT');
  expect(await run.ended).toMatchObject({ code: 0 });
  await nothingLeft(home);
});
