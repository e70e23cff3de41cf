import { randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { memberOperations } from '@causeway/proto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { compressed } from './compress.ts';

const answer = { status: 200, body: Buffer.from(JSON.stringify({ text: 'Käthe '.repeat(400) })) };
const browser = 'gzip, deflate, br, zstd';

test('A long answer to a read is compressed for those who take gzip', async () => {
  const sent = await compressed(answer, { method: 'GET' }, browser);
  expect(sent.headers).toEqual({ 'Content-Encoding': 'gzip' });
  expect(sent.body.length).toBeLessThan(answer.body.length / 5);
  expect(gunzipSync(sent.body)).toEqual(answer.body);
});

test.each([
  ['GET', ''],
  ['GET', 'br'],
  ['GET', 'gzip;q=0, br'],
  ['POST', browser],
  ['PATCH', browser],
])('%s with Accept-Encoding "%s" is answered as it is', async (method, acceptEncoding) => {
  expect(await compressed(answer, { method }, acceptEncoding)).toBe(answer);
});

test('A short answer is sent as it is', async () => {
  const short = { status: 200, body: Buffer.from('{}') };
  expect(await compressed(short, { method: 'GET' }, browser)).toBe(short);
});

test('A long answer is compressed in a thread, two at a time; further ones go as they are', async () => {
  const body = Buffer.from(randomBytes(2 ** 20).toString('base64'));
  const long = Array.from({ length: 4 }, () => ({ status: 200, body }));
  const before = process.threadCpuUsage();
  const sending = long.map((one) => compressed(one, { method: 'GET' }, browser));
  const { user, system } = process.threadCpuUsage(before);
  const sent = await Promise.all(sending);
  expect(sent.map(({ headers }) => headers?.['Content-Encoding'])).toEqual([
    ...['gzip', 'gzip'],
    ...[undefined, undefined],
  ]);
  expect(gunzipSync(sent[0]!.body)).toEqual(body);
  // Compressed here, they took this thread.
  const here = process.threadCpuUsage();
  gzipSync(body, { level: 1 });
  const { user: hereUser, system: hereSystem } = process.threadCpuUsage(here);
  expect(user + system).toBeLessThan((hereUser + hereSystem) / 2);
  expect((await compressed(long[0]!, { method: 'GET' }, browser)).headers).toBeDefined();
});

/** Names under which the contract tells secrets. */
const secret = /secret$|token$|^(value|link|password|codes|recoveryCodes)$/i;

const namesIn = (schema: unknown): string[] =>
  typeof schema !== 'object' || schema === null
    ? []
    : Object.entries(schema).flatMap(([key, value]) => [
        ...(key === 'properties' ? Object.keys(value as object) : []),
        ...namesIn(value),
      ]);

test('No read of the portal tells a secret, which its compressed length could give away', () => {
  const told = memberOperations
    .filter(({ method }) => method === 'GET')
    .flatMap(({ id, answers }) =>
      Object.values(answers)
        .flatMap(({ schema }) => (schema ? namesIn(z.toJSONSchema(schema, { unrepresentable: 'any' })) : []))
        .filter((name) => secret.test(name))
        .map((name) => `${id}.${name}`),
    );
  expect(told).toEqual([]);
});
