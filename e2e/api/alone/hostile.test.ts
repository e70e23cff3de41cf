import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@causeway/runtime/testing/until';
import { Client } from 'undici';
import { beforeAll, describe, expect, test } from 'vitest';
import { watchMemory } from '../support/memory.ts';
import { processesOf, sumOf } from '../support/processes.ts';
import {
  deafConnection,
  listeningSocket,
  rawExchange,
  rawRequest,
  rawSocket,
  statusesOf,
} from '../support/raw.ts';
import { openWorld, send } from '../support/world.ts';

// What a stranger can do to a gateway with one or a few connections, without reading any answer.

const world = await openWorld();
const lookup = '/api/v1/integrations/lookups/employees';
const leads = '/api/v1/integrations/leads';
const contract = '/api/v1/openapi.json';
const signIn = '/portal/api/v1/session';
const json = ['Content-Type: application/json', 'Sec-Fetch-Site: same-origin'];

/** Of bodies that gateways hold, in bytes. */
const bodyBytes = () => sumOf(world, 'gateway', 'gateway_body_bytes_in_flight');

let key = '';
beforeAll(async () => {
  key = (await (await world.company({ read: 1e9, write: 1e9 })).key()).value;
});

const gateways = () => processesOf(world, 'gateway');
/** The largest increase, in MiB, of the resident memory of all gateways during `work`. */
const addedBy = async (work: () => Promise<void>): Promise<number> => {
  const memory = watchMemory(gateways());
  await work().finally(memory.stop);
  const { beforeMiB, peakMiB } = memory.stop();
  return peakMiB - beforeMiB;
};
const deaf = () => deafConnection(world.baseUrl);

describe('Unread answers', () => {
  test.each([
    ['of a large page', `GET ${contract} HTTP/1.1`, [], 2_000],
    ['of refusals', `GET ${lookup} HTTP/1.1`, [], 600_000],
    ['without a body', `HEAD ${contract} HTTP/1.1`, [], 600_000],
    ['of the portal', `GET /portal/api/v1/session HTTP/1.1`, [], 600_000],
    ['to chunked requests', `GET ${contract} HTTP/1.1`, ['Transfer-Encoding: chunked'], 2_000],
  ])(
    '%s: pipelined, they are written only as far as the client reads, and the connection ends',
    async (_, line, headers, count) => {
      const request = rawRequest(line, headers, headers.length > 0 ? '0\r\n\r\n' : '');
      const batch = Buffer.from(request.repeat(500));
      const connection = deaf();
      const added = await addedBy(async () => {
        for (let sent = 0; sent < count && !connection.closed(); sent += 500) await connection.write(batch);
        // Time for an end that does not come, or for more bytes than may be written.
        await sleep(300);
        // The client can read what was written before the end, and nothing more.
        connection.socket.resume();
        await until('the connection has ended', connection.closed);
      });
      connection.socket.destroy();
      expect(added).toBeLessThan(96);
      await until(
        'nothing waits for it',
        async () => (await sumOf(world, 'gateway', 'gateway_answers_unsent')) === 0,
      );
    },
  );

  test.each([
    ['refusals', `GET ${lookup} HTTP/1.1`],
    ['answers of the portal', 'GET /portal/api/v1/session HTTP/1.1'],
  ])(
    'thousands of small pipelined %s are not written all at once, even if the client reads',
    async (_, line) => {
      const { statuses, closed } = await rawExchange(world.baseUrl, rawRequest(line, []).repeat(4_000), {
        answers: 4_000,
      });
      expect(statuses.length).toBeLessThan(1_000);
      expect(closed).toBe(true);
    },
  );

  test('of fifty clients at once use no more memory than is in use anyway', async () => {
    const connections = Array.from({ length: 50 }, deaf);
    const added = await addedBy(async () => {
      await Promise.all(
        connections.map(({ write }) =>
          write(Buffer.from(rawRequest(`GET ${contract} HTTP/1.1`, []).repeat(40))),
        ),
      );
      // Memory is looked at once everything that will be written is written.
      await sleep(500);
    });
    for (const { socket } of connections) socket.destroy();
    expect(added).toBeLessThan(96);
  });

  test('arrive complete when they are read later', async () => {
    const whole = await rawExchange(world.baseUrl, rawRequest(`GET ${contract} HTTP/1.1`, []));
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(whole.text)?.[1]);
    expect(length).toBeGreaterThan(100_000);
    const { socket, write } = deaf();
    await write(Buffer.from(rawRequest(`GET ${contract} HTTP/1.1`, [])));
    // The buffers of both ends fill in this time.
    await sleep(300);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.resume();
    const bodyOf = (text: string) => text.slice(text.indexOf('\r\n\r\n') + 4);
    await until('it is there', () => bodyOf(received).length >= length);
    expect(bodyOf(received)).toBe(bodyOf(whole.text));
    socket.destroy();
  });
});

describe('Bodies in chunks of one byte', () => {
  const started = (apiKey: string, path = leads, more: readonly string[] = []) =>
    rawRequest(`POST ${path} HTTP/1.1`, [`X-Api-Key: ${apiKey}`, 'Transfer-Encoding: chunked', ...more]);
  const chunks = (count: number) => '1\r\na\r\n'.repeat(count);

  test('without a key are refused before any chunk is read', async () => {
    const held = bodyBytes();
    const added = await addedBy(async () => {
      const ends = await Promise.all(
        Array.from({ length: 30 }, () =>
          rawExchange(world.baseUrl, started('nonsense') + chunks(200_000), {
            answers: 2,
          }),
        ),
      );
      for (const { statuses, closed } of ends) {
        expect(statuses.filter((status) => status !== 401)).toEqual([]);
        expect(closed).toBe(true);
      }
    });
    expect(added).toBeLessThan(96);
    expect(await held).toBe(0);
  });

  test('without a key get the answer before the body has arrived', async () => {
    const { statuses, text } = await rawExchange(world.baseUrl, started('nonsense') + chunks(1));
    expect(statuses).toEqual([401]);
    expect(text).toMatch(/\r\nconnection: close\r\n/i);
  });

  test.each([
    ['of the interface', () => started(key)],
    ['of the portal', () => started('', signIn, json)],
  ])('%s are refused if there are too many, whatever their total size', async (_, head) => {
    const added = await addedBy(async () => {
      const { statuses, text, closed } = await rawExchange(world.baseUrl, head() + chunks(8_300), {
        answers: 2,
      });
      expect([statuses, closed]).toEqual([[413], true]);
      expect(text).toMatch(/has more than 8192 chunks|exceeds 4096 bytes/);
      // Clients that keep sending are not waited for.
      const gone = await rawExchange(world.baseUrl, head() + chunks(300_000), {
        answers: 2,
      });
      expect(gone.closed).toBe(true);
    });
    expect(added).toBeLessThan(96);
    await until('no body is held', async () => (await bodyBytes()) === 0);
  });

  test('up to the limit of a body are read', async () => {
    const body = `${'1\r\n \r\n'.repeat(8_000)}2\r\n{}\r\n0\r\n\r\n`;
    const { statuses, text } = await rawExchange(world.baseUrl, started(key) + body);
    expect(statuses).toEqual([400]);
    expect(text).toContain('first_name is required');
  });
});

describe('The memory of request bodies', () => {
  test('is released when clients disconnect, and when bodies are refused', async () => {
    const sockets = Array.from({ length: 20 }, () => {
      const socket = rawSocket(world.baseUrl).on('error', () => {});
      socket.write(
        rawRequest(`POST ${leads} HTTP/1.1`, [`X-Api-Key: ${key}`, 'Content-Length: 900000'], '{'),
      );
      return socket;
    });
    await until('they are held', async () => (await bodyBytes()) >= 20 * 16_384);
    // The declared length does not count, only the bytes held.
    expect(await bodyBytes()).toBeLessThan(20 * 65_536);
    for (const socket of sockets) socket.destroy();
    await until('none is held', async () => (await bodyBytes()) === 0);
  });

  test.each([
    ['declared', (bytes: number) => ({ headers: [`Content-Length: ${bytes}`], body: ' '.repeat(bytes) })],
    [
      'in chunks',
      (bytes: number) => ({
        headers: ['Transfer-Encoding: chunked'],
        body: `${bytes.toString(16)}\r\n${' '.repeat(bytes)}\r\n0\r\n\r\n`,
      }),
    ],
  ])('is at most 4 KiB for a client that is not signed in (%s)', async (_, framed) => {
    for (const [bytes, status] of [
      [4096, 400],
      [4097, 413],
    ] as const) {
      const { headers, body } = framed(bytes);
      const answer = await rawExchange(
        world.baseUrl,
        rawRequest(`POST ${signIn} HTTP/1.1`, [...json, ...headers], body),
      );
      expect(answer.statuses).toEqual([status]);
      if (status === 413) expect(answer.text).toContain('the request body exceeds 4096 bytes');
    }
  });
});

describe('Bytes that become many more on their way to a service', () => {
  const pids = () => gateways().map(({ pid }) => pid);

  test('in paths: 98 requests that end in one turn get their answers, and the gateways go on', async () => {
    const before = pids();
    const body = JSON.stringify({ first_name: 'x'.repeat(14_000) });
    const request = Buffer.concat([
      Buffer.from(`PATCH ${leads}/`),
      Buffer.alloc(15_500, 0xff),
      Buffer.from(
        ` HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      ),
    ]);
    const sockets = Array.from({ length: 98 }, () => {
      const socket = rawSocket(world.baseUrl);
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
      });
      socket.write(request.subarray(0, -1));
      return { socket, statuses: () => statusesOf(text) };
    });
    // Each gateway has read all but the last byte.
    await sleep(500);
    for (const { socket } of sockets) socket.write(request.subarray(-1));
    await until('all are answered', () => sockets.every(({ statuses }) => statuses().length === 1));
    expect(new Set(sockets.flatMap(({ statuses }) => statuses()))).toEqual(new Set([404]));
    for (const { socket } of sockets) socket.destroy();
    expect(pids()).toEqual(before);
    expect(await sumOf(world, 'gateway', 'process_unexpected_errors_total')).toBe(0);
  });

  test('in an agent’s arguments: each call is answered, and the gateways go on', async () => {
    const before = pids();
    const call = (client_id: unknown, id: number) =>
      fetch(`${world.baseUrl}/mcp`, {
        method: 'POST',
        headers: {
          'X-Api-Key': key,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({
          ...{ jsonrpc: '2.0', id, method: 'tools/call' },
          params: { name: 'leads_update', arguments: { client_id, first_name: 'Ada' } },
        }),
      });
    // The process of the agents may have to start first.
    await until('agents answer', async () => (await call(1, 0)).status === 200);
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, id) => call(id % 2 ? ' '.repeat(520_000) : 'ÿ'.repeat(200_000), id)),
    );
    for (const reply of replies)
      expect([reply.status, await reply.text()]).toEqual([200, expect.any(String)]);
    expect(pids()).toEqual(before);
    expect(await sumOf(world, 'gateway', 'process_unexpected_errors_total')).toBe(0);
  });
});

describe('A head', () => {
  test.each(['', ' ', 'a b', 'a/b', 'a@b', 'a:b', '[::1', 'é'])(
    'with an invalid Host (%o) gets a 400 in JSON with the id of the request',
    async (host) => {
      const bytes = Buffer.from(
        `GET ${lookup} HTTP/1.1\r\nHost: ${host}\r\nX-Request-Id: odd\r\n\r\n`,
        'latin1',
      );
      const { statuses, text } = await rawExchange(world.baseUrl, bytes);
      expect(statuses).toEqual([400]);
      expect(text).toMatch(/\r\nx-request-id: odd\r\n/i);
      expect(text).toContain('"the Host header is not valid"');
    },
  );

  test.each(['x', 'localhost:8080', '127.0.0.1', '[::1]:80', 'a-b.example.', 'x:'])(
    'with the Host %s is accepted',
    async (host) => {
      const bytes = `GET ${lookup} HTTP/1.1\r\nHost: ${host}\r\nX-Api-Key: ${key}\r\n\r\n`;
      expect((await rawExchange(world.baseUrl, bytes)).statuses).toEqual([200]);
    },
  );
});

describe('Every answer', () => {
  const asks: readonly [string, string, object][] = [
    ['of the interface', '/integrations/lookups/employees', {}],
    ['that refuses', '/nothing', {}],
    ['of a page', '/openapi.json', {}],
    ['of the portal', '//portal/api/v1/session', {}],
    ['without a body', '/integrations/lookups/employees', { method: 'HEAD' }],
  ];
  test.each(asks)(
    '%s names no product, and says how long the connection is kept open',
    async (_, path, ask) => {
      const client = new Client(world.baseUrl);
      try {
        const { headers } = await send(client, path, { key, ...ask });
        expect(Object.keys(headers).filter((name) => /server|uwebsockets|powered/i.test(name))).toEqual([]);
        if ('method' in ask)
          expect([headers.connection, headers['keep-alive']]).toEqual(['close', undefined]);
        else expect([headers.connection, headers['keep-alive']]).toEqual(['keep-alive', 'timeout=8']);
      } finally {
        await client.destroy();
      }
    },
  );

  test('to a client that asks to close the connection says once that it closes', async () => {
    for (const wish of ['close', 'Close', 'TE, close']) {
      const { text } = await rawExchange(
        world.baseUrl,
        rawRequest(`GET ${lookup} HTTP/1.1`, [`X-Api-Key: ${key}`, `Connection: ${wish}`]),
      );
      expect(text.match(/\r\nconnection: close\r\n/gi)).toHaveLength(1);
      expect(text).not.toMatch(/keep-alive/i);
    }
  });

  // Repeated, because on a busy machine the second request may be sent or read too late.
  test('keeps the connection open as long as it says', { retry: 2 }, async () => {
    const heard = listeningSocket(world.baseUrl);
    const { socket } = heard;
    const ask = () => socket.write(rawRequest(`GET ${lookup} HTTP/1.1`, [`X-Api-Key: ${key}`]));
    ask();
    await until('an answer', () => statusesOf(heard.text).length === 1);
    // Shorter than the eight seconds for which the gateway says that it keeps the connection.
    await sleep(7_000);
    ask();
    await until('another, or the end', () => statusesOf(heard.text).length === 2 || heard.closed);
    socket.destroy();
    expect(statusesOf(heard.text)).toEqual([200, 200]);
  });
});
