import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { expect, onTestFinished, test } from 'vitest';
import { verifyWebhook } from '../../proto/client/index.ts';
import { run } from '../../services/access/cli/run.ts';
import { openWorld } from './support/world.ts';

const world = await openWorld();

/** Starts a command as `npm run -s causeway` does. */
const start = (key: string | undefined, ...args: readonly string[]) => {
  const stop = new AbortController();
  const said = { out: '', err: '' };
  const env = { CAUSEWAY_URL: world.baseUrl, ...(key && { CAUSEWAY_KEY: key }) };
  const code = run(args, {
    env,
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    signal: stop.signal,
  });
  onTestFinished(async () => {
    stop.abort();
    await code;
  });
  return {
    said,
    code,
    stop: () => {
      stop.abort();
      return code;
    },
  };
};

const found = (text: () => string, wanted: RegExp): Promise<RegExpExecArray> =>
  until(String(wanted), () => wanted.exec(text()));

interface Arrived {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A developer's receiver, which sees the whole URL. */
const startReceiver = async (port = 0, status = 200, headers: Record<string, string> = {}) => {
  const arrived: Arrived[] = [];
  const server = createServer(async (request, response) => {
    arrived.push({ url: request.url!, headers: request.headers, body: await text(request) });
    response.writeHead(status, headers).end();
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  const stop = () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  };
  onTestFinished(() => void stop());
  return { arrived, stop, port: (server.address() as AddressInfo).port };
};

test('listen forwards events, signed and to the whole URL, and goes on where it stopped', async () => {
  const company = await world.company();
  const { value: key } = await company.key();
  const receiver = await startReceiver();
  const forward = `http://127.0.0.1:${receiver.port}/hooks/crm?tenant=7&a=%2F`;
  const first = start(key, 'listen', '--forward', forward, '--types', 'lead.created,invoice.created');
  const [, secret] = await found(() => first.said.out, /Signing secret: (whsec_\S+)\n/);
  for (const type of ['lead.created', 'client.created', 'invoice.created'])
    expect(await start(key, 'trigger', type).code).toBe(0);
  await found(() => first.said.out, /invoice\.created {2}200 /);
  expect(receiver.arrived.map(({ url }) => url)).toEqual(Array(2).fill('/hooks/crm?tenant=7&a=%2F'));
  for (const { headers, body } of receiver.arrived)
    expect((await verifyWebhook(body, headers, secret!)).companyId).toBe(company.id);

  expect(await first.stop()).toBe(0);
  const [, cursor] = await found(() => first.said.out, /--cursor (\S+)\n/);
  // What was missed meanwhile.
  await start(key, 'trigger', 'invoice.created', '--payload', '{"invoice_id":77}').code;
  const second = start(key, 'listen', '--forward', forward, '--cursor', cursor!, '--secret', secret!);
  await found(() => second.said.out, /invoice\.created {2}200 /);
  expect(JSON.parse(receiver.arrived.at(-1)!.body).payload).toEqual({ invoice_id: 77 });
});

test('listen waits for a receiver that is away, and follows no redirect', async () => {
  const { value: key } = await (await world.company()).key();
  const elsewhere = await startReceiver();
  const { port, stop } = await startReceiver();
  await stop();
  const listening = start(key, 'listen', '--forward', `http://127.0.0.1:${port}`);
  await found(() => listening.said.out, /Signing secret/);
  await start(key, 'trigger', 'lead.created').code;
  await found(() => listening.said.out, /no answer from/);
  await startReceiver(port, 307, { location: `http://127.0.0.1:${elsewhere.port}/` });
  await found(() => listening.said.out, /lead\.created {2}307 /);
  expect(elsewhere.arrived).toEqual([]);
});

test('tail shows each delivery', async () => {
  const { value: key } = await (await world.company()).key();
  const receiver = await testReceiver();
  const body = { url: receiver.url, eventTypes: ['payment.failed'] };
  const { json } = await world.ask('/webhooks/subscriptions', { key, method: 'POST', body });
  const tailing = start(key, 'tail', '--subscription', String(json.id));
  await found(() => tailing.said.out, /from now on/);
  await start(key, 'trigger', 'payment.failed').code;
  await found(() => tailing.said.out, /payment\.failed {2}succeeded {2}attempt 1 {2}200\n/);
  expect(await tailing.stop()).toBe(0);
});

test('commands that are refused, or not understood, say why by their exit status', async () => {
  const { value: key } = await (await world.company()).key(['integrations:read']);
  for (const [code, sentence, ...args] of [
    [1, 'does not have the scope admin', 'trigger', 'lead.created'],
    [1, 'does not have the scope events:read', 'listen', '--forward', 'http://127.0.0.1:9'],
    [1, 'the connection failed', 'trigger', 'lead.created', '--url', 'http://127.0.0.1:9'],
    [2, 'one event type is required', 'trigger'],
    [2, '--payload takes a JSON object', 'trigger', 'lead.created', '--payload', '[1]'],
    [2, '--forward takes a URL', 'listen', '--forward', 'localhost:3000'],
    [2, "unknown option '--fast'", 'listen', '--fast'],
    [2, '--subscription takes a number', 'tail'],
  ] as const) {
    const { code: exit, said } = start(key, ...args);
    expect([await exit, said.err]).toEqual([code, expect.stringContaining(sentence)]);
    expect(said.err).not.toContain(key);
  }
  const unnamed = start(undefined, 'trigger', 'lead.created');
  expect([await unnamed.code, unnamed.said.err]).toEqual([2, expect.stringContaining('--key is required')]);
  const help = start(undefined, 'listen', '--help');
  expect([await help.code, help.said.out]).toEqual([0, expect.stringContaining('--forward URL')]);
});
