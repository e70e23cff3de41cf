import { contract, type KeyOperation, problem } from '@causeway/proto';
import { openApiDocument } from '@causeway/proto/openapi';
import { createLog, createTurns, type LaneAnswer, type LaneCall, noMetrics } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { callService, Exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { readHead } from './http/head.ts';
import { loadUws, type us_listen_socket } from './http/uws.ts';
import { keyAnswers } from './keys/serve.ts';
import { countTraffic } from './traffic.ts';

const deprecated: KeyOperation = {
  ...contract.listEvents,
  deprecation: {
    sinceUtc: '2027-01-01T00:00:00Z',
    sunsetUtc: '2028-01-01T00:00:00Z',
    link: '/docs#listSampleEvents',
  },
};

const unlogged = { note: () => {}, flush: () => {} };

/** Serves `path` by the answer that it names, for the deprecated operation or, below `/other`, for another one. */
const serve = async (): Promise<string> => {
  const uws = loadUws();
  const app = uws.App();
  const { log } = createLog({ name: 'test', instance: 'test', level: 'silent' });
  const shared = {
    log,
    traffic: countTraffic(noMetrics),
    requestLog: unlogged,
    draining: false,
  };
  app.any('/*', (response, request) => {
    const head = readHead(request);
    const exchange = new Exchange(shared, response, head, '127.0.0.1', keyAnswers);
    exchange.identify(head.path.startsWith('/other') ? contract.getEvent : deprecated);
    if (head.path.endsWith('/fails')) exchange.fail(problem('service_unavailable'));
    else exchange.answer(200, '{}', []);
  });
  const socket = await new Promise<us_listen_socket>((resolve) =>
    app.listen('127.0.0.1', 0, (listening) => resolve(listening as us_listen_socket)),
  );
  cleanUp(async () => void app.close());
  return `http://127.0.0.1:${uws.us_socket_local_port(socket)}`;
};

test('a deprecated operation says so in every answer, errors included, and no other does', async () => {
  const url = await serve();
  for (const path of ['/works', '/fails']) {
    const { headers } = await fetch(url + path);
    expect(headers.get('Deprecation')).toBe('@1798761600');
    expect(headers.get('Sunset')).toBe('Sat, 01 Jan 2028 00:00:00 GMT');
    expect(headers.get('Link')).toBe('</docs#listSampleEvents>; rel="deprecation"; type="text/html"');
    const other = await fetch(`${url}/other${path}`);
    for (const name of ['Deprecation', 'Sunset', 'Link']) expect(other.headers.get(name)).toBeNull();
  }
});

test('the document marks it', () => {
  const { paths } = openApiDocument({ operations: [deprecated] }) as {
    paths: Record<string, { get: object }>;
  };
  expect(paths['/api/v1/events']!.get).toMatchObject({
    deprecated: true,
    'x-sunset': '2028-01-01T00:00:00Z',
  });
});

test('large bodies of one company go to a service one after another, and nobody else waits for them', async () => {
  const calls: { readonly call: LaneCall; answer(answer: LaneAnswer): void }[] = [];
  const request = (call: LaneCall) =>
    new Promise<LaneAnswer>((answer) => {
      calls.push({ call, answer });
    });
  const gateway = {
    lanes: { crm: { request } },
    largeBodies: createTurns(),
  } as unknown as Gateway;
  const match = { operation: contract.createLead, params: [] };
  const exchange = { requestId: 'r', traceparent: '', head: { query: '' } } as unknown as Exchange;
  const send = (tenant: number, bytes: number) =>
    callService(gateway, exchange, match, { tenant, caller: 1 }, Buffer.alloc(bytes));
  const [large, small] = [64 * 1024 + 1, 64 * 1024];
  const first = send(1, large);
  const second = send(1, large);
  void send(1, small);
  void send(2, large);
  const under = () => calls.map(({ call: { tenant, body } }) => [tenant, body.length]);
  await expect.poll(under).toEqual(
    expect.arrayContaining([
      [1, large],
      [1, small],
      [2, large],
    ]),
  );
  expect(calls).toHaveLength(3);
  calls
    .find(({ call }) => call.tenant === 1 && call.body.length === large)!
    .answer({ status: 201, body: Buffer.alloc(0) });
  await first;
  await expect.poll(under).toHaveLength(4);
  // What it has waited is no longer left of its time.
  expect(calls[3]!.call.budgetMs).toBeLessThan(contract.createLead.deadlineMs);
  calls[3]!.answer({ status: 201, body: Buffer.alloc(0) });
  await second;
});
