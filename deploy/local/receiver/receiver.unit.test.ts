import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { type Receiver, type ReceiverOptions, startReceiver } from './receiver.ts';

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
