import { gunzipSync } from 'node:zlib';
import { memberOperations } from '@causeway/proto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { compressed } from './serve.ts';

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
