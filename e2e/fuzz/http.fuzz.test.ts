import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listeningSocket, rawExchange, rawRequest, statusesOf } from '../api/support/raw.ts';
import { openWorld } from '../api/support/world.ts';
import { createDice, type Dice } from './dice.ts';
import { seed } from './options.ts';

// Requests as bytes, beyond the cases of e2e/api/alone/http.test.ts: cut at every byte, and put together from all the
// ways in which heads and bodies can be ambiguous.

const world = await openWorld();
const lookup = '/api/v1/integrations/lookups/employees';
let key = '';
beforeAll(async () => {
  key = (await (await world.company({ read: 1e9, write: 1e9 })).key()).value;
});

/** At most so many at a time: the machine is small, and each is a connection of its own. */
const atATime = async <Item>(width: number, items: readonly Item[], work: (item: Item) => Promise<void>) => {
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < items.length) await work(items[next++]!);
    }),
  );
};

test('A request is understood alike wherever the network cuts it', async () => {
  const own = [`X-Api-Key: ${key}`, 'X-Request-Id: cut'];
  const post = 'POST /api/v1/integrations/leads HTTP/1.1';
  const json = '{"first_name":"Łódź","email":7}';
  const length = Buffer.byteLength(json);
  const requests: readonly [string, string][] = [
    ['GET', rawRequest(`GET ${lookup}?x=%20y HTTP/1.1`, own)],
    ['HEAD', rawRequest(`HEAD ${lookup} HTTP/1.1`, own)],
    ['a body', rawRequest(post, [...own, `Content-Length: ${length}`], json)],
    [
      'chunks',
      rawRequest(post, [...own, 'Transfer-Encoding: chunked'], '5\r\n{"a":\r\n2;x=y\r\n1}\r\n0\r\n\r\n'),
    ],
    ['nobody', rawRequest(`GET ${lookup} HTTP/1.1`, ['X-Request-Id: cut'])],
    ['no request', `GET ${lookup} HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n`],
  ];
  const answerOf = (text: string): string => {
    const [head = '', body = ''] = text.split('\r\n\r\n');
    return `${head.split('\r\n')[0]} ${/x-request-id: \S+/i.exec(head)?.[0]} ${body}`;
  };
  for (const [name, text] of requests) {
    const bytes = Buffer.from(text);
    let whole = await rawExchange(world.baseUrl, bytes);
    while (isUncounted(whole.text)) whole = await rawExchange(world.baseUrl, bytes);
    expect(whole.statuses, name).toHaveLength(1);
    const places = Array.from({ length: bytes.length - 1 }, (_, at) => at + 1);
    const different: string[] = [];
    await atATime(24, places, async (at) => {
      let parts = await sendInParts(bytes, at, whole.text.length);
      while (isUncounted(parts)) parts = await sendInParts(bytes, at, whole.text.length);
      const [asWhole, asParts] = [answerOf(whole.text), answerOf(parts)];
      if (asWhole !== asParts) different.push(`at ${at}: ${asParts}`);
    });
    expect(different, name).toEqual([]);
  }
});

/** A starved machine may not count a request in time (contract, "Rate limits"); clients send it again. */
const isUncounted = (text: string): boolean => text.startsWith('HTTP/1.1 503 ');

/** @returns what the server answered to the two parts, once it is as long as expected. */
const sendInParts = async (bytes: Buffer, at: number, expectedLength: number): Promise<string> => {
  const heard = listeningSocket(world.baseUrl);
  const { socket } = heard;
  socket.write(bytes.subarray(0, at));
  await sleep(2);
  socket.write(bytes.subarray(at));
  for (let left = 10_000; heard.text.length < expectedLength && !isUncounted(heard.text) && left > 0; left--)
    await sleep(5);
  socket.destroy();
  return heard.text;
};

/** Node's own parser, which is strict: the ids of what it takes for requests, by the stream they came in. */
const taken = new Map<string, string[]>();
const strict = createServer((request, response) => {
  const [stream = '', id = ''] = String(request.headers['x-request-id']).split('.');
  taken.set(stream, [...(taken.get(stream) ?? []), id]);
  request.on('error', () => {}).resume();
  request.on('end', () => response.end());
});
strict
  .on('clientError', (_, socket) => socket.destroy())
  .on('checkContinue', (_, response) => response.writeContinue());
beforeAll(() => once(strict.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => {
  strict.closeAllConnections();
  strict.close();
});

/** Sends each when the one before may have been answered, as a proxy does. */
const oneAfterTheOther = async (messages: readonly string[]): Promise<{ readonly text: string }> => {
  const heard = listeningSocket(world.baseUrl);
  const { socket } = heard;
  for (const message of messages) {
    const answers = statusesOf(heard.text).length;
    if (socket.writable) socket.write(Buffer.from(message, 'latin1'));
    for (let left = 20; left > 0 && statusesOf(heard.text).length === answers && !socket.closed; left--)
      await sleep(10);
  }
  // Time for a second answer that must not come.
  await sleep(100);
  socket.destroy();
  return heard;
};

/** The ids of the requests that were answered. */
const idsOf = (text: string): string[] =>
  [...text.matchAll(/\r\nx-request-id: \d+\.(\w+)\r\n/gi)].map(([, id]) => id!);

const mostly = <Value>(dice: Dice, usual: Value, others: readonly Value[]): Value =>
  dice.oneIn(10) ? dice.pick(others) : usual;
const ends = ['\n', '\r', '\r\n\r\n', '\n\r\n', '\r\r\n', ' \r\n', '\0\r\n', '\r\n '];
const spellings = (name: string, value: string) => [
  ...[`${name}: ${value}`, `${name.toLowerCase()}:${value}`, `${name} : ${value}`, `${name}:\t${value}`],
  ...[`${name}: ${value}\t`, `${name.replace('-', '_')}: ${value}`],
  ...[`X: y\n${name}: ${value}`, `X: y\r${name}: ${value}`],
];
const lengths = (count: number) => [
  ...spellings('Content-Length', `${count}`),
  ...[`0${count}`, '0', `${count}, ${count}`, `0x${count}`, `+${count}`, '', `${count};`].map(
    (value) => `Content-Length: ${value}`,
  ),
];
const encodings = [
  ...spellings('Transfer-Encoding', 'chunked'),
  ...['Chunked', 'chunked ', 'chunked, identity', 'identity, chunked', ',chunked', '\x80chunked'].map(
    (value) => `Transfer-Encoding: ${value}`,
  ),
  ...['Transfer-Encoding: chunked\r\nTransfer-Encoding: x', 'Transfer-Encoding: chunke\u0000d'],
  ...['TE: chunked', 'Transfer-Encoding:\r\n chunked', '\tTransfer-Encoding: chunked'],
];
const sizes = (count: number) => {
  const hex = count.toString(16);
  return [
    ...['0', '000000000000000000', ' ', '0x', '+', '-', '\t'].map((before) => `${before}${hex}`),
    ...[';a=b', ';a="b\r\nc"', ' ', '_', 'g', ';\n', '\t;a', ';', ':', ' G'].map((after) => `${hex}${after}`),
    ...[hex.toUpperCase(), '', 'ffffffffffffffff'],
  ];
};
const trailers = [
  '',
  'X: y\r\n',
  'Content-Length: 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'X y\r\n',
  ' \r\n',
  'X: y\n',
];

const documented = new Set([100, 400, 401, 404, 405, 413, 431, 501, 505]);

/** One message: now and then with a body that another reader could take for a request. */
const message = (dice: Dice, stream: number, id: string): string => {
  const hidden = `GET /hidden HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${stream}.smuggled\r\n\r\n`;
  const body = dice.pick(['', '{}', hidden, `0\r\n\r\n${hidden}`]);
  const chunk = (text: string) =>
    `${mostly(dice, text.length.toString(16), sizes(text.length))}${mostly(dice, '\r\n', ends)}${text}${mostly(dice, '\r\n', ends)}`;
  const chunks = `${body === '' ? '' : chunk(body)}${mostly(dice, '0', ['00', '0;x', '0;', '', ' 0', '\t0', '0 ', '0 x'])}${mostly(dice, '\r\n', ends)}${mostly(dice, '', trailers)}${mostly(dice, '\r\n', ['', '\n', '\r', 'X'])}`;
  const isChunked = dice.oneIn(2);
  const framing = isChunked
    ? [mostly(dice, encodings[0]!, encodings)]
    : [mostly(dice, lengths(body.length)[0]!, lengths(body.length))];
  if (dice.oneIn(10)) framing.push(dice.pick([...encodings, ...lengths(body.length)]));
  if (body === '' && dice.oneIn(2)) framing.length = 0;
  const end = (): string => (dice.oneIn(40) ? dice.pick(ends) : '\r\n');
  const line = mostly(dice, `POST /api/v1/none/${id} HTTP/1.1`, [
    ...[
      `GET /api/v1/none/${id} HTTP/1.1`,
      `POST  /api/v1/none/${id} HTTP/1.1`,
      `POST /api/v1/none/${id} HTTP/1.0`,
    ],
    ...[
      `POST /api/v1/none/${id}`,
      ` POST /api/v1/none/${id} HTTP/1.1`,
      `POST\t/api/v1/none/${id}\tHTTP/1.1`,
      `POST http://x/${id} HTTP/1.1`,
    ],
  ]);
  // With a GET it is not noticed (SECURITY.md, "What the HTTP parser leaves to us").
  if (line.startsWith('POST /') && dice.oneIn(20)) framing.unshift(': nameless');
  const headers = ['Host: x', `X-Request-Id: ${stream}.${id}`, ...framing];
  return `${[line, ...headers].map((one) => one + end()).join('')}${end()}${isChunked ? chunks : body}`;
};

test('Nothing is taken for a request that a strict reader does not take for one', async () => {
  const dice = createDice(seed);
  const streams = Array.from({ length: 1_000 }, (_, at) => ({
    name: String(at),
    messages: ['r1', 'r2', 'r3'].map((id) => message(dice, at, id)),
    paced: at % 2 === 0,
  }));
  const { port } = strict.address() as AddressInfo;
  const found: unknown[] = [];
  let understood = 0;
  await atATime(48, streams, async ({ name, messages, paced }) => {
    const text = messages.join('');
    const bytes = Buffer.from(text, 'latin1');
    const [gateway] = await Promise.all([
      paced
        ? oneAfterTheOther(messages)
        : // One that waits for more is not waited for.
          rawExchange(world.baseUrl, bytes, { answers: 4, timeoutMs: 600 }),
      rawExchange(`http://127.0.0.1:${port}`, bytes, { answers: 4, end: true }),
    ]);
    const ours = idsOf(gateway.text);
    const theirs = taken.get(name) ?? [];
    understood += ours.length;
    // It may stop sooner, by closing; it may not go on where the other stops, nor read something else.
    // A header without a name cannot be seen: its request is answered, and is the last.
    const unseen = messages.findIndex((one) => one.includes('\r\n: nameless'));
    const isLastUnseen = (id: string, at: number) =>
      at === unseen && id === `r${at + 1}` && at === ours.length - 1;
    const isBeginning = ours.every((id, at) => id === theirs[at] || isLastUnseen(id, at));
    const strange = statusesOf(gateway.text).filter((status) => !documented.has(status));
    if (!isBeginning || strange.length > 0) found.push({ text, ours, theirs, strange });
  });
  expect(found).toEqual([]);
  expect(understood, 'requests understood').toBeGreaterThan(300);
  expect((await world.ask('/integrations/lookups/employees', { key })).status).toBe(200);
}, 120_000);
