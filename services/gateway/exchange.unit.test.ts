import { contract, type KeyOperation, problem } from '@causeway/proto';
import { openApiDocument } from '@causeway/proto/openapi';
import { createLog, noMetrics } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { Exchange } from './exchange.ts';
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
    tracer: undefined,
    traffic: countTraffic(noMetrics),
    requestLog: unlogged,
    uses: { used: () => {}, answered: () => {}, called: () => {}, flush: () => {} },
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
  const { paths } = openApiDocument([deprecated]) as { paths: Record<string, { get: object }> };
  expect(paths['/api/v1/events']!.get).toMatchObject({
    deprecated: true,
    'x-sunset': '2028-01-01T00:00:00Z',
  });
});
