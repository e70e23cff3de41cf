import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runtimeMetrics } from '@causeway/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scratch } from '../../e2e/runner/servers.ts';
import { declaredMetrics } from '../monitoring/testing/metrics.ts';
import { readStack, type Stack } from './home.ts';
import { freePort } from './ports.ts';

const entry = (name: string) => join(import.meta.dirname, name);
const homes: string[] = [];

const newHome = (): string => {
  // Longer than a socket path may be, because a deep home must work too.
  const home = join(mkdtempSync(join(scratch(), 'causeway-cluster-')), 'x'.repeat(120));
  homes.push(home);
  return home;
};

const command = (name: string, home: string, ...args: string[]) => {
  const child = spawn(process.execPath, [entry(name), ...args], {
    env: { ...process.env, STACK_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { text: '' };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said.text += data));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, text: said.text }));
  return { child, said, ended };
};

const startDetached = async (home: string, port: number): Promise<Stack> => {
  const { code, text } = await command('start.ts', home, '--port', String(port), '--detach').ended;
  expect(text).toContain('Causeway is running');
  expect(code).toBe(0);
  return readStack(home) as Stack;
};

const lookUpEmployees = async ({ baseUrl, apiKey }: Stack): Promise<{ status: number; count: number }> => {
  const url = `${baseUrl}/api/v1/integrations/lookups/employees`;
  const response = await fetch(url, { headers: { 'X-Api-Key': apiKey } });
  const { count } = (await response.json()) as { count: number };
  return { status: response.status, count };
};

const processesAbout = (home: string): string[] =>
  readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    try {
      const about =
        readFileSync(`/proc/${pid}/environ`, 'utf8') + readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return about.includes(home)
        ? [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').slice(-80)}`]
        : [];
    } catch {
      return [];
    }
  });

const nothingLeft = (home: string) => expect.poll(() => processesAbout(home)).toEqual([]);

afterAll(async () => {
  for (const home of homes) {
    if (processesAbout(home).length > 0) await command('stop.ts', home).ended;
    rmSync(resolve(home, '..'), { recursive: true, force: true });
  }
});

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

  test('runs beside another with all services in one process, in the foreground, whose curl commands work when pasted; Ctrl-C twice ends that with exit code 0', async () => {
    const other = newHome();
    const run = command('start.ts', other, '--together', '--port', String(await freePort()));
    // It makes the data of a second MySQL while other tests run.
    await expect.poll(() => run.said.text, { timeout: 150_000 }).toContain('Ctrl-C ends it');
    const second = readStack(other) as Stack;
    expect(second.processes.map(({ name }) => name).toSorted()).toEqual(['mysql', 'nats', 'services']);
    expect(await lookUpEmployees(second)).toMatchObject({ status: 200 });
    expect(await lookUpEmployees(stack)).toMatchObject({ status: 200 });
    expect((await lookUpEmployees({ ...second, apiKey: stack.apiKey })).status).toBe(401);
    const paste = async (line: string): Promise<unknown> => {
      const curl = spawn('sh', ['-c', line.replace('curl', 'curl -s')], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const [answer] = (await once(curl.stdout, 'data')) as [Buffer];
      return JSON.parse(answer.toString());
    };
    const [lookUp = '', subscribe = ''] = run.said.text.match(/curl .*/g) ?? [];
    expect(await paste(lookUp)).toMatchObject({ employees: expect.any(Array) });
    expect(await paste(subscribe)).toMatchObject({
      url: `${second.receiverUrl}hook`,
      signingSecret: expect.stringMatching(/^whsec_/),
    });
    const client = { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' };
    const created = await fetch(`${second.baseUrl}/api/v1/integrations/clients`, {
      method: 'POST',
      headers: { 'X-Api-Key': second.apiKey, 'Content-Type': 'application/json' },
      body: JSON.stringify(client),
    });
    expect(created.status).toBe(201);
    const arrived = () => fetch(`${second.receiverUrl}_received`).then((response) => response.text());
    await expect.poll(arrived).toContain('ada@example.com');
    const services = join(other, 'logs', 'services.log');
    run.child.kill('SIGINT');
    await sleep(50);
    run.child.kill('SIGINT');
    expect(await run.ended).toMatchObject({ code: 0 });
    await nothingLeft(other);
    // The edge stops first, and each drains to its end.
    const stopped = readFileSync(services, 'utf8').matchAll(/"service":"(\w+)".*"msg":"stopped"/g);
    const names = [...stopped].map(([, name]) => name);
    expect(names[0]).toBe('gateway');
    expect(names.toSorted()).toEqual(['access', 'crm', 'dispatcher', 'gateway', 'webhooks']);
  });

  test.each(['gateway-1', 'nats', 'mysql'])(
    'restarts %s after a kill, and stack.json names the new process',
    async (name) => {
      const pidOf = () => readStack(home)?.processes.find((part) => part.name === name)?.pid as number;
      const before = pidOf();
      process.kill(before, 'SIGKILL');
      await expect.poll(() => pidOf()).not.toBe(before);
      await expect.poll(() => lookUpEmployees(stack)).toMatchObject({ status: 200 });
    },
  );

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
