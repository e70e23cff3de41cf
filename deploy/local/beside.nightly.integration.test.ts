import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readStack, type Stack } from './home.ts';
import { freePort } from './ports.ts';
import { command, lookUpEmployees, newHome, nothingLeft, startDetached } from './testing/commands.ts';

test('a cluster runs beside another with all services in one process, in the foreground, whose curl commands work when pasted; Ctrl-C twice ends that with exit code 0', async () => {
  const stack = await startDetached(newHome(), await freePort());
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
