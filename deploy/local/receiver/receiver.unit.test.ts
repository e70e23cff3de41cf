import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { type Receiver, type ReceiverOptions, startReceiver } from './receiver.ts';
import { verdictOn } from './signature.ts';

let receiver: Receiver | undefined;
afterEach(async () => {
  await receiver?.close();
  receiver = undefined;
});

const start = async (options: ReceiverOptions = {}): Promise<Receiver> => {
  receiver = await startReceiver(options);
  return receiver;
};

const deliver = (path: string, id = '1', headers: Readonly<Record<string, string>> = {}, body = '{"a":1}') =>
  fetch(`${receiver?.url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      'X-Webhook-Id': id,
      'X-Webhook-Event': 'client.created',
      'X-Webhook-Attempt': '1',
      ...headers,
    },
    body,
  });

const raw = (path: string, forMs: number): Promise<{ text: string; ended: boolean }> =>
  new Promise((resolve) => {
    let text = '';
    let ended = false;
    const socket = connect(Number(new URL(receiver?.url ?? '').port), '127.0.0.1');
    socket.on('data', (bytes) => (text += bytes.toString('latin1'))).on('error', () => {});
    socket.on('close', () => (ended = true));
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\nx-webhook-id: 1\r\ncontent-length: 2\r\n\r\n{}`);
    setTimeout(() => {
      resolve({ text, ended });
      socket.destroy();
    }, forMs);
  });

test('keeps a delivery with its headers and body', async () => {
  const { received, arrivals, url } = await start();
  expect((await deliver('/hook')).status).toBe(200);
  expect(received).toMatchObject([
    { path: '/hook', id: '1', type: 'client.created', attempt: 1, body: Buffer.from('{"a":1}') },
  ]);
  expect(received[0]?.headers).toMatchObject({ host: url.slice(7), 'x-webhook-id': '1' });
  await deliver('/hook');
  await deliver('/hook', '2');
  expect([...(arrivals.get('/hook') ?? [])]).toEqual([
    ['1', 2],
    ['2', 1],
  ]);
});

test('keeps no more deliveries than asked to', async () => {
  const { received } = await start({ keep: 3 });
  for (const id of ['1', '2', '3', '4', '5']) await deliver('/hook', id);
  expect(received.map(({ id }) => id)).toEqual(['3', '4', '5']);
});

test('while counting, keeps only how often each event arrived', async () => {
  const { received, arrivals, counts } = await start({ counting: true });
  for (const id of ['1', '2', '2']) await deliver('/hook', id);
  expect(received).toEqual([]);
  expect(Object.fromEntries(arrivals.get('/hook') ?? [])).toEqual({ 1: 1, 2: 2 });
  expect(counts().deliveries).toBe(3);
});

describe('answers as the query says:', () => {
  test.each([
    ['status=500', 500],
    ['status=410', 410],
    ['status=204', 204],
    ['redirect=http://example.com/', 302],
    ['redirect=http://example.com/&status=308', 308],
    ['unknown=1', 200],
  ])('%s', async (query, status) => {
    await start();
    const response = await deliver(`/hook?${query}`);
    expect(response.status).toBe(status);
    if (status < 400 && status >= 300) expect(response.headers.get('location')).toBe('http://example.com/');
  });

  test('several statuses take turns', async () => {
    await start();
    const statuses = [];
    for (let at = 0; at < 4; at += 1) statuses.push((await deliver('/hook?status=500,200,410')).status);
    expect(statuses).toEqual([500, 200, 410, 500]);
  });

  test('each event is refused so often, then taken', async () => {
    await start();
    const statuses = [];
    for (const id of ['1', '2', '1', '2', '1', '2'])
      statuses.push((await deliver('/hook?fail=2&status=503', id)).status);
    expect(statuses).toEqual([503, 503, 503, 503, 200, 200]);
  });

  test('a delay, Retry-After, a body, many headers', async () => {
    await start();
    const startMs = performance.now();
    const response = await deliver('/hook?delay=150&retryAfter=120&status=429&body=70000&headers=100');
    expect(performance.now() - startMs).toBeGreaterThan(145);
    expect(response.headers.get('retry-after')).toBe('120');
    expect(response.headers.get('x-header-100')).toBe('x');
    expect((await response.text()).length).toBe(70_000);
  });

  test('a bomb unfolds to so many zeros', async () => {
    await start();
    const bytes = await (await deliver('/hook?bomb=20000000')).arrayBuffer();
    expect(bytes.byteLength).toBe(20_000_000);
  });

  test.each<[string, RegExp, boolean]>([
    ['hang', /^$/, false],
    ['hang=body', /^HTTP\/1\.1 200 .*\r\n\r\nthan$/s, false],
    ['drip=20', /^HTTP\/1\.1 200 .*\r\n\r\n(1\r\n\.\r\n)+$/s, false],
    ['drip=head', /^HTTP\/1\.1 200 Said\r\n(x-drip: 1\r\n)+$/, false],
    ['headers=endless', /^HTTP\/1\.1 200 Said\r\n(x-more: and more\r\n){100,}$/, false],
    ['reset', /^$/, true],
    ['reset=body', /^HTTP\/1\.1 200 .*\r\n\r\nthan$/s, true],
    ['length=99', /Content-Length: 99\r\n\r\nthank you$/, true],
    ['length=3', /Content-Length: 3\r\n\r\nthank you$/, true],
    ['garbage', /^SSH/, false],
  ])('%s', async (query, said, ended) => {
    const { counts } = await start();
    const { text, ended: over } = await raw(`/hook?${query}`, 250);
    expect(text.length > 2000 ? text.slice(0, text.lastIndexOf('x-more')) : text).toMatch(said);
    expect(over).toBe(ended);
    await expect.poll(() => counts().open).toBe(0);
  });
});

test('answers a path as told while it runs', async () => {
  await start();
  const setBehaviour = (behaviour?: string) =>
    fetch(`${receiver?.url}/_behave`, { method: 'POST', body: JSON.stringify({ path: '/hook', behaviour }) });
  await setBehaviour('status=500');
  expect((await deliver('/hook?status=410')).status).toBe(500);
  expect((await deliver('/other')).status).toBe(200);
  await setBehaviour();
  expect((await deliver('/hook?status=410')).status).toBe(410);
  receiver?.behave('/hook', 'status=503');
  expect((await deliver('/hook')).status).toBe(503);
});

test('a function answers in place of all that, with the delivery at hand', async () => {
  const { received } = await start();
  const [{ status }, held] = await new Promise<[Response, Promise<Response>]>((resolve) => {
    receiver!.answer = (response, { id }) => {
      if (id === '1') resolve(Promise.all([deliver('/hook', '2')]).then(([other]) => [other, first]));
      else response.writeHead(418).end();
    };
    const first = deliver('/hook?status=500', '1');
    first.catch(() => {});
  });
  expect(status).toBe(418);
  expect(received.map(({ id }) => id)).toEqual(['1', '2']);
  expect(receiver?.mostAtATime).toBe(2);
  await receiver?.close();
  await expect(held).rejects.toThrow();
});

test('refuses connections while it is down, and is back at the same address', async () => {
  const { counts } = await start();
  expect((await deliver('/hook')).status).toBe(200);
  await receiver?.down();
  await expect(deliver('/hook')).rejects.toThrow();
  await receiver?.up();
  expect((await deliver('/hook')).status).toBe(200);
  expect(counts().deliveries).toBe(2);
});

describe('a signature', () => {
  // Computed by others, with other code: see the vector.
  const known = {
    secret: 'test-secret',
    timestamp: '1234567890',
    body: '{"hello":"world"}',
    signature: 'sha256=7054f74dae9f73e82b56ca73e8f81450097c698eeda0b00bb8728e89796baf2d',
  };
  const at = 1_234_567_890_000;
  const judge = (change: Partial<typeof known>, nowMs = at, secrets = [known.secret]) => {
    const { timestamp, signature, body } = { ...known, ...change };
    return verdictOn(secrets, timestamp, signature, Buffer.from(body), nowMs);
  };

  test('is valid for the secret, the timestamp and the body it was made of', () => {
    expect(judge({})).toBe('valid');
    expect(judge({ body: '{"hello":"world" }' })).toBe('invalid');
    expect(judge({ timestamp: '1234567891' })).toBe('invalid');
    expect(judge({}, at, ['another'])).toBe('invalid');
    expect(judge({ signature: known.signature.slice(0, -1) })).toBe('invalid');
    expect(judge({ signature: known.signature.slice(7) })).toBe('invalid');
  });

  test('is valid in any place of several, and with any of several secrets', () => {
    const other = `sha256=${'0'.repeat(64)}`;
    expect(judge({ signature: `${other},${known.signature}` })).toBe('valid');
    expect(judge({ signature: `${known.signature}, ${other}` })).toBe('valid');
    expect(judge({}, at, ['another', known.secret])).toBe('valid');
  });

  test('is stale five minutes off, missing without its headers, unchecked without a secret', () => {
    expect(judge({}, at + 300_000)).toBe('valid');
    expect(judge({}, at + 300_001)).toBe('stale');
    expect(judge({}, at - 300_001)).toBe('stale');
    expect(judge({ signature: '' })).toBe('unsigned');
    expect(judge({ timestamp: '' })).toBe('unsigned');
    expect(judge({}, at, [])).toBe('unchecked');
  });
});

test('with the secret it tells of each delivery whether its signature is valid, in a line and in its list', async () => {
  const lines: string[] = [];
  await start({ say: (line) => lines.push(line) });
  const secret = 'whsec_dGVzdA==';
  const told = await fetch(`${receiver?.url}/_secret`, {
    method: 'POST',
    body: JSON.stringify({ signingSecret: secret }),
  });
  expect(told.status).toBe(200);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = `sha256=${createHmac('sha256', secret).update(`${timestamp}.{"a":1}`).digest('hex')}`;
  await deliver('/hook', '17', { 'X-Webhook-Timestamp': timestamp, 'X-Webhook-Signature': signature });
  await deliver('/hook?status=500', '18', {
    'X-Webhook-Timestamp': timestamp,
    'X-Webhook-Signature': 'sha256=0',
  });
  await expect.poll(() => lines).toHaveLength(2);
  expect(lines[0]).toMatch(
    / {2}\/hook {2}client\.created {2}event 17 {2}attempt 1 {2}signature valid {2}→ 200$/,
  );
  expect(lines[1]).toMatch(/ {2}event 18 {2}attempt 1 {2}signature invalid {2}→ 500$/);
  const list = await (await fetch(`${receiver?.url}/_received`)).json();
  expect(list).toMatchObject({
    deliveries: 2,
    arrivals: { '/hook': { events: 2, deliveries: 2, moreThanOnce: 0 } },
    received: [
      { id: '18', verdict: 'invalid' },
      { id: '17', verdict: 'valid', body: '{"a":1}' },
    ],
  });
  await fetch(`${receiver?.url}/_received`, { method: 'DELETE' });
  expect(receiver?.received).toEqual([]);
});

test('a sender that disconnects in the middle disturbs nothing', async () => {
  await start();
  const socket = connect(Number(new URL(receiver?.url ?? '').port), '127.0.0.1');
  socket.write('POST /hook?drip=5 HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{');
  await sleep(30);
  socket.destroy();
  expect((await deliver('/hook')).status).toBe(200);
});
