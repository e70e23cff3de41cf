import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@causeway/runtime/testing/until';
import { Client } from 'undici';
import { beforeAll, describe, expect, test } from 'vitest';
import { inOneMinute } from '../support/clock.ts';
import { endsUnread } from '../support/framing.ts';
import { sumOf } from '../support/processes.ts';
import { listeningSocket, rawExchange, rawRequest, rawSocket } from '../support/raw.ts';
import { openWorld, send } from '../support/world.ts';

const world = await openWorld();

const lookup = '/api/v1/integrations/lookups/employees';
const leads = '/api/v1/integrations/leads';

let key = '';
const unlimited = 1_000_000_000;
beforeAll(async () => {
  key = (await (await world.company({ read: unlimited, write: unlimited })).key()).value;
});

const exchange = (bytes: string, options = {}) =>
  rawExchange(world.baseUrl, Buffer.from(bytes, 'latin1'), options);
const get = (apiKey: string, ...headers: string[]) =>
  rawRequest(`GET ${lookup} HTTP/1.1`, [`X-Api-Key: ${apiKey}`, ...headers]);
const post = (apiKey: string, headers: readonly string[], body: string) =>
  rawRequest(`POST ${leads} HTTP/1.1`, [`X-Api-Key: ${apiKey}`, ...headers], body);

describe('Broken framing', () => {
  const chunked = ['Transfer-Encoding: chunked'];
  // Two parsers could see the end of each in different places.
  const cases: readonly [string, readonly string[], string][] = [
    ['two Content-Lengths that differ', ['Content-Length: 2', 'Content-Length: 3'], '{}'],
    ['two Content-Lengths that agree', ['Content-Length: 2', 'Content-Length: 2'], '{}'],
    ['two Content-Lengths in different case', ['Content-Length: 2', 'content-length: 0'], '{}'],
    ['a list of Content-Lengths', ['Content-Length: 2, 2'], '{}'],
    ['a Content-Length with a sign', ['Content-Length: +2'], '{}'],
    ['a negative Content-Length', ['Content-Length: -1'], '{}'],
    ['a hexadecimal Content-Length', ['Content-Length: 0x2'], '{}'],
    ['a Content-Length with a fraction', ['Content-Length: 2.0'], '{}'],
    ['a Content-Length with an exponent', ['Content-Length: 2e0'], '{}'],
    ['a Content-Length with a space in it', ['Content-Length: 2 2'], '{}'],
    ['an empty Content-Length', ['Content-Length:'], ''],
    ['a Content-Length that is a word', ['Content-Length: two'], '{}'],
    ['a huge Content-Length', ['Content-Length: 99999999999999999999'], '{}'],
    ['a Content-Length with a vertical tab', ['Content-Length: \x0b2'], '{}'],
    [
      'Content-Length before Transfer-Encoding',
      ['Content-Length: 2', 'Transfer-Encoding: chunked'],
      '0\r\n\r\n',
    ],
    [
      'Transfer-Encoding before Content-Length',
      ['Transfer-Encoding: chunked', 'Content-Length: 5'],
      '0\r\n\r\n',
    ],
    ['two Transfer-Encodings', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['Transfer-Encoding identity', ['Transfer-Encoding: identity'], '0\r\n\r\n'],
    ['Transfer-Encoding gzip, chunked', ['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n'],
    ['Transfer-Encoding chunked, chunked', ['Transfer-Encoding: chunked, chunked'], '0\r\n\r\n'],
    ['Transfer-Encoding chunked with a parameter', ['Transfer-Encoding: chunked;q=1'], '0\r\n\r\n'],
    ['Transfer-Encoding xchunked', ['Transfer-Encoding: xchunked'], '0\r\n\r\n'],
    ['Transfer-Encoding in quotes', ['Transfer-Encoding: "chunked"'], '0\r\n\r\n'],
    ['an empty Transfer-Encoding', ['Transfer-Encoding:'], '0\r\n\r\n'],
    ['Transfer-Encoding with a vertical tab', ['Transfer-Encoding: \x0bchunked'], '0\r\n\r\n'],
    ['a space before the colon', ['Transfer-Encoding : chunked'], '0\r\n\r\n'],
    ['a folded header', ['Transfer-Encoding:', ' chunked'], '0\r\n\r\n'],
    ['a NUL in a header’s name', ['Transfer\0-Encoding: chunked'], '0\r\n\r\n'],
    ['a header without a colon', ['Transfer-Encoding'], ''],
    ['a chunk extension without a name', chunked, '2;\r\n{}\r\n0\r\n\r\n'],
    ['a blank before a size', chunked, ' 2\r\n{}\r\n0\r\n\r\n'],
    ['a tab before a size', chunked, '\t2\r\n{}\r\n0\r\n\r\n'],
    ['a blank behind a size', chunked, '2 \r\n{}\r\n0\r\n\r\n'],
    ['something behind a size', chunked, '2 x\r\n{}\r\n0\r\n\r\n'],
    ['an invalid digit', chunked, `G\r\n${' '.repeat(16)}\r\n2\r\n{}\r\n0\r\n\r\n`],
    ['a negative size', chunked, '-2\r\n{}\r\n0\r\n\r\n'],
    ['a huge size', chunked, 'FFFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n'],
    ['an empty size', chunked, '\r\n\r\n'],
    ['something in place of the line end after a chunk', chunked, '2\r\n{}XX0\r\n\r\n'],
    ['a request in place of it', chunked, '2\r\n{}GE0\r\n\r\n'],
    ['bare line feeds', chunked, '2\n{}\n\n0\n\n'],
    ['something in place of the last line end', chunked, '2\r\n{}\r\n0\r\nXX'],
    ['a trailer', chunked, '2\r\n{}\r\n0\r\nX: y\r\n\r\n'],
    ['a trailer that names a length', chunked, '0\r\nContent-Length: 5\r\n\r\n'],
    ['a header without a name, before the length', [': x', 'Content-Length: 2'], '{}'],
    ['a header without a name, before the coding', [': x', ...chunked], '0\r\n\r\n'],
  ];

  // Concurrent, because some wait for the gateway's timeouts; more of these come at night.
  test.concurrent.each(cases)(
    '%s: the connection ends, and the request behind it is not executed, whenever it comes',
    inOneMinute((_, headers, body) => endsUnread(world, headers, body)),
  );

  test.each(['X-Api-Key', 'x-api-key', 'X-API-KEY'])(
    'a repeated key (%s) closes the connection, equal or not, and counts nothing',
    inOneMinute(async (name) => {
      const { value } = await (await world.company()).key();
      for (const second of [value, 'other', '']) {
        const { closed, text } = await exchange(get(value, `${name}: ${second}`));
        expect([closed, text]).toEqual([true, '']);
      }
      expect(
        (await world.ask('/integrations/lookups/employees', { key: value })).headers['x-ratelimit-remaining'],
      ).toBe('59');
    }),
  );
});

describe('A chunked body', () => {
  test.each([
    ['in one chunk', '2\r\n{}\r\n0\r\n\r\n'],
    ['in several', '1\r\n{\r\n1\r\n}\r\n0\r\n\r\n'],
    ['with hexadecimal lengths', `A\r\n{        }\r\na\r\n          \r\n0\r\n\r\n`],
    ['with leading zeros', '0002\r\n{}\r\n000\r\n\r\n'],
    ['that is empty', '0\r\n\r\n'],
  ])('%s is read to its end', async (_, body) => {
    const { statuses, closed, text } = await exchange(post(key, ['Transfer-Encoding: chunked'], body));
    expect([statuses, closed]).toEqual([[400], false]);
    // The service's own answer to an empty object, so it has read the whole body.
    expect(text).toContain('first_name is required');
  });
});

describe('Input that is not an HTTP/1.1 request', () => {
  test.each<[string, string, readonly number[]]>([
    ['HTTP/1.0', `GET ${lookup} HTTP/1.0\r\nHost: x\r\n\r\n`, [505]],
    ['HTTP/0.9', `GET ${lookup}\r\n\r\n`, [505]],
    ['HTTP/1.2', `GET ${lookup} HTTP/1.2\r\nHost: x\r\n\r\n`, [505]],
    ['HTTP/2 by prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [505]],
    ['TLS', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03', [505]],
    ['the absolute form', `GET http://localhost${lookup} HTTP/1.1\r\nHost: localhost\r\n\r\n`, [505]],
    ['the asterisk form', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', [505]],
    ['CONNECT', 'CONNECT localhost:80 HTTP/1.1\r\nHost: x\r\n\r\n', [505]],
    ['no Host', `GET ${lookup} HTTP/1.1\r\n\r\n`, [400]],
    ['two Hosts', `GET ${lookup} HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n`, [400]],
    ['bare line feeds', `GET ${lookup} HTTP/1.1\nHost: x\n\n`, [505]],
    ['a NUL in the path', `GET ${lookup}\0 HTTP/1.1\r\nHost: x\r\n\r\n`, [505]],
    ['a NUL in a header', `GET ${lookup} HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n`, [400]],
    ['a header that begins with a space', `GET ${lookup} HTTP/1.1\r\nHost: x\r\n X-A: a\r\n\r\n`, [400]],
    [
      'a header block over 16 KiB',
      `GET ${lookup} HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(17_000)}\r\n\r\n`,
      [431],
    ],
    ['a path over 16 KiB', `GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, [431]],
    ['too many headers', `GET ${lookup} HTTP/1.1\r\nHost: x\r\n${'X-A: a\r\n'.repeat(300)}\r\n`, [431]],
  ])('%s is refused and the connection closed', async (_, bytes, statuses) => {
    const answer = await exchange(bytes);
    expect([answer.statuses, answer.closed]).toEqual([statuses, true]);
    expect(answer.text).toMatch(/\r\nConnection: close\r\n/i);
  });

  test.each(['get', 'BREW', 'G.T', 'GETGET', 'X'.repeat(100)])(
    'the method %s gets 401 without a key, 405 with one',
    async (method) => {
      const line = `${method} ${lookup} HTTP/1.1`;
      expect((await exchange(rawRequest(line, []))).statuses).toEqual([401]);
      expect((await exchange(rawRequest(line, [`X-Api-Key: ${key}`]))).statuses).toEqual([405]);
    },
  );
});

test.each(['{}POST', 'G@T', '"GET', '0,GET', 'GÉT', 'GET:'])(
  'an invalid method (%s) closes the connection',
  async (method) => {
    const answer = await exchange(
      rawRequest(`${method} ${lookup} HTTP/1.1`, [`X-Api-Key: ${key}`]) + get(key),
      { answers: 2 },
    );
    expect([answer.closed, answer.statuses.filter((status) => status < 400)]).toEqual([true, []]);
  },
);

test('Headers of 12 KiB, and ninety headers, are accepted', async () => {
  expect((await exchange(get(key, `X-Long: ${'a'.repeat(12_000)}`))).statuses).toEqual([200]);
  const ninety = Array.from({ length: 90 }, (_, at) => `X-${at}: a`);
  expect((await exchange(get(key, ...ninety))).statuses).toEqual([200]);
});

test('A raw byte that is not allowed in a query is a 400', async () => {
  for (const byte of ['\xff', '\xe9', '\x80']) {
    const line = `GET ${lookup}?q=${byte} HTTP/1.1`;
    expect((await exchange(rawRequest(line, [`X-Api-Key: ${key}`]))).statuses).toEqual([400]);
  }
});

test('Expect: 100-continue is answered before the body is sent', async () => {
  const heard = listeningSocket(world.baseUrl);
  const { socket } = heard;
  socket.write(post(key, ['Content-Length: 2', 'Expect: 100-continue'], ''));
  await until('100 Continue', () => heard.text.startsWith('HTTP/1.1 100 Continue\r\n\r\n'));
  socket.write('{}');
  await until('the answer', () => heard.text.includes('first_name is required'));
  socket.destroy();
});

test('An upgrade is ignored: the request gets its normal answer', async () => {
  const upgrade = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 13',
  ];
  expect((await exchange(get(key, ...upgrade))).statuses).toEqual([200]);
  expect((await exchange(get(key, 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c'))).statuses).toEqual([
    200,
  ]);
});

describe('A connection', () => {
  test('serves many requests one after the other', async () => {
    const client = new Client(world.baseUrl, { pipelining: 1 });
    let opened = 0;
    client.on('connect', () => opened++);
    try {
      for (let at = 0; at < 300; at++)
        expect((await send(client, '/integrations/lookups/employees', { key })).status).toBe(200);
      expect(opened).toBe(1);
    } finally {
      await client.destroy();
    }
  });

  test('survives errors', async () => {
    const client = new Client(world.baseUrl, { pipelining: 1 });
    let opened = 0;
    client.on('connect', () => opened++);
    try {
      for (const [path, ask, status] of [
        ['/integrations/lookups/employees', {}, 401],
        ['/nothing', { key }, 404],
        ['/integrations/leads', { key, method: 'PUT', body: '{"a":1}' }, 405],
        ['/integrations/lookups/employees?x=1', { key }, 400],
        ['/integrations/leads', { key, method: 'POST', body: '{}' }, 400],
        ['/integrations/lookups/employees', { key }, 200],
      ] as const)
        expect((await send(client, path, ask)).status).toBe(status);
      expect(opened).toBe(1);
    } finally {
      await client.destroy();
    }
  });

  test('is closed after the answer if the client asks for it', async () => {
    const answer = await exchange(get(key, 'Connection: close'), { answers: 2 });
    expect([answer.statuses, answer.closed]).toEqual([[200], true]);
  });

  test('with pipelined requests gets the answers in order or is closed; nothing hangs', async () => {
    // Requests that are answered at once get their answers in order.
    const refused = await exchange(get('nonsense').repeat(5), { answers: 5 });
    expect(refused.statuses).toEqual([401, 401, 401, 401, 401]);
    // The gateway has no queue: a request behind one that is in progress ends the connection.
    const waiting = await exchange(get(key).repeat(5), { answers: 5 });
    expect(waiting.closed).toBe(true);
    expect(waiting.statuses.length).toBeLessThanOrEqual(1);
  });

  test('that its client half-closed ends soon', async () => {
    const answer = await exchange(get(key), { end: true, answers: 2 });
    expect(answer.closed).toBe(true);
    expect(answer.statuses.filter((status) => status !== 200)).toEqual([]);
  });

  test('that stalls or drips is closed', async () => {
    const slow: [name: string, first: string, drip?: string][] = [
      ['nothing at all', ''],
      ['an empty line', '\r\n'],
      ['empty lines, again and again', '\r\n', '\r\n'],
      ['a part of the request line', 'GET / HT'],
      ['a part of the head', 'GET / HTTP/1.1\r\nHost: x\r\n'],
      ['a head that drips', 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ', 'a'],
      ['a part of the body', post(key, ['Content-Length: 100000'], '{')],
      ['a body that drips', post(key, ['Content-Length: 100000'], '{'), ' '],
      ['chunks that drip', post(key, ['Transfer-Encoding: chunked'], ''), '1\r\n \r\n'],
      ['a part of a chunk length', post(key, ['Transfer-Encoding: chunked'], 'F')],
      ['a body that was refused', post('nonsense', ['Content-Length: 100000'], '{')],
      ['a keep-alive without a next request', get(key)],
    ];
    const ended = await Promise.all(
      slow.map(async ([name, first, drip]) => {
        const socket = rawSocket(world.baseUrl);
        socket.on('error', () => {}).on('data', () => {});
        socket.write(first);
        const dripping = setInterval(() => drip && socket.writable && socket.write(drip), 700);
        const closed = await Promise.race([
          new Promise<boolean>((resolve) => socket.once('close', () => resolve(true))),
          sleep(60_000, false),
        ]);
        clearInterval(dripping);
        socket.destroy();
        return { name, closed };
      }),
    );
    expect(ended.filter(({ closed }) => !closed)).toEqual([]);
  });
});

const inFlight = () => sumOf(world, 'gateway', 'gateway_requests_in_flight');

test('Clients that disconnect during a request leave nothing behind', async () => {
  const started = [
    get(key),
    post(key, ['Content-Length: 1000'], '{"first_name":'),
    post(key, ['Transfer-Encoding: chunked'], '5\r\n{"a":'),
    post(key, ['Content-Length: 2000000'], ' '.repeat(100_000)),
    get(key).slice(0, 60),
  ];
  await Promise.all(
    Array.from({ length: 200 }, async (_, at) => {
      const socket = rawSocket(world.baseUrl);
      socket.on('error', () => {});
      await new Promise<void>((resolve) => socket.write(started[at % started.length] ?? '', () => resolve()));
      // Some disconnect at once, some while the request is in progress.
      if (at % 3) await sleep(at % 7);
      if (at % 2) socket.resetAndDestroy();
      else socket.destroy();
    }),
  );
  await until('no request is in flight', async () => (await inFlight()) === 0);
});
