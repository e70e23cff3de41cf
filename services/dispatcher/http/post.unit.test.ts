import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { headersAsSent } from '@causeway/deliveries';
import { afterEach, describe, expect, test } from 'vitest';
import { answer, type Behaviour, type RawReceiver, startRawReceiver } from '../testing/raw-receiver.ts';
import { createPoster, type Poster, type PosterOptions } from './post.ts';

const close: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const one of close.splice(0).reverse()) await one();
});

const timeoutMs = 1_000;
/** Tolerance for timers on a busy machine. */
const slackMs = 20_000;

const setUp = async (
  behave: Behaviour,
  options: Partial<PosterOptions> = {},
): Promise<{
  receiver: RawReceiver;
  poster: Poster;
  post: (body?: string) => ReturnType<Poster['post']>;
}> => {
  const receiver = await startRawReceiver(behave);
  const poster = createPoster({ allowPrivate: true, allowHttp: true, timeoutMs, ...options });
  close.push(() => receiver[Symbol.asyncDispose](), poster.close);
  return { receiver, poster, post: (body = '{}') => poster.post({ url: receiver.url, headers: [], body }) };
};

const answers =
  (text: string | Buffer): Behaviour =>
  (socket) =>
    void socket.write(text);

test('the headers shown as sent are those of the request, byte for byte and in order', async () => {
  const { receiver, poster } = await setUp(answers(answer(200)));
  const headers = [
    ['Content-Type', 'application/json'],
    ['User-Agent', 'Causeway'],
    ['X-Webhook-Id', '12'],
  ] as const;
  for (const body of ['{"name":"Zoë"}', Buffer.from('{"name":"Zoë"}')]) {
    const { wasSent } = await poster.post({ url: `${receiver.url}?a=b#c`, headers, body });
    expect(wasSent).toBe(true);
    const sent = headersAsSent(new URL(receiver.url), headers, Buffer.byteLength(body));
    const lines = sent.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const bytes = Buffer.from('{"name":"Zoë"}').toString('latin1');
    expect(receiver.requests.at(-1)).toBe(`POST /hook?a=b HTTP/1.1\r\n${lines}\r\n${bytes}`);
  }
});

test('the answer is kept: status, unchanged headers, body, Retry-After', async () => {
  const text = answer(503, 'later', 'Retry-After: 120\r\nX-Two: a\r\nX-Two: b\r\nX-Ümlaut: nö\r\n');
  const { post } = await setUp(answers(Buffer.from(text.replace('X-Ümlaut', 'X-U'), 'utf8')));
  expect(await post()).toMatchObject({
    statusCode: 503,
    errorClass: 'status',
    error: 'The receiver answered 503.',
    retryAfter: '120',
    responseHeaders: [
      ['content-length', '5'],
      ['Retry-After', '120'],
      ['X-Two', 'a'],
      ['X-Two', 'b'],
      ['X-U', 'nö'],
    ],
    responseBody: Buffer.from('later'),
    responseTruncated: false,
    address: '127.0.0.1',
  });
});

test('the duration is split into parts, and an open connection has no connection time', async () => {
  const { post } = await setUp((socket) => void setTimeout(() => socket.write(answer(200)), 100));
  const first = await post();
  expect(first.connectMs).toBeGreaterThanOrEqual(0);
  expect(first.firstByteMs).toBeGreaterThanOrEqual(95);
  expect(first.elapsedMs).toBeGreaterThanOrEqual(first.firstByteMs ?? 0);
  expect(await post()).toMatchObject({ dnsMs: null, connectMs: null, tlsMs: null, address: '127.0.0.1' });
});

test.each([200, 201, 202, 204, 299])('%i is a success', async (status) => {
  const { post } = await setUp(
    answers(`HTTP/1.1 ${status} X\r\n${status === 204 ? '' : 'content-length: 0\r\n'}\r\n`),
  );
  expect(await post()).toMatchObject({
    statusCode: status,
    errorClass: null,
    error: null,
    responseBody: null,
  });
});

test.each([
  [300, 'redirect'],
  [301, 'redirect'],
  [304, 'redirect'],
  [307, 'redirect'],
  [308, 'redirect'],
  [400, 'status'],
  [404, 'status'],
  [410, 'status'],
  [429, 'status'],
  [500, 'status'],
  [599, 'status'],
  [999, 'status'],
])('%i is a failure of class %s', async (status, errorClass) => {
  const { post } = await setUp(answers(answer(status)));
  expect(await post()).toMatchObject({ statusCode: status, errorClass });
});

test('a redirect is not followed', async () => {
  const elsewhere = await setUp(answers(answer(200)));
  const { post } = await setUp(answers(answer(308, '', `Location: ${elsewhere.receiver.url}\r\n`)));
  expect(await post()).toMatchObject({
    statusCode: 308,
    error: 'The receiver answered 308; redirects are not followed.',
  });
  expect(elsewhere.receiver.connections()).toBe(0);
});

describe('a receiver that sends no complete status line costs the deadline and no more:', () => {
  test.each<[string, Behaviour]>([
    ['it accepts and hangs', () => {}],
    ['it hangs in the status line', answers('HTTP/1.1 200 O')],
    ['it hangs after an interim answer', answers('HTTP/1.1 103 Early\r\nlink: </a>\r\n\r\nHTTP/1.1 200')],
    [
      'it answers after the deadline',
      (socket) => void setTimeout(() => socket.write(answer(200)), timeoutMs + 150),
    ],
  ])('%s', async (_what, behave) => {
    const { receiver, poster, post } = await setUp((socket, request, nth) => {
      socket.write('');
      behave(socket, request, nth);
    });
    const result = await post();
    expect(result).toMatchObject({
      statusCode: null,
      errorClass: 'timeout',
      error: 'No answer came within 1 s.',
      responseHeaders: null,
      responseBody: null,
      responseTruncated: false,
    });
    expect(result.elapsedMs).toBeGreaterThanOrEqual(timeoutMs - 5);
    expect(result.elapsedMs).toBeLessThan(timeoutMs + slackMs);
    await expect.poll(() => [receiver.open(), poster.counts()]).toEqual([0, { open: 0, idle: 0 }]);
  });

  test('it does not read the request', async () => {
    const { receiver, poster } = await setUp(() => {});
    // Larger than the kernel's buffers for a receiver that does not read.
    const body = Buffer.alloc(32 * 1024 * 1024);
    receiver.pause();
    const result = await poster.post({ url: receiver.url, headers: [], body });
    expect(result).toMatchObject({ errorClass: 'timeout' });
    expect(result.elapsedMs).toBeLessThan(timeoutMs + slackMs);
  });
});

const endless =
  (text: string, everyMs: number): Behaviour =>
  (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write(text), everyMs);
    socket.on('close', () => clearInterval(timer));
  };

describe('a status line that came whole decides, whatever is odd in the head:', () => {
  const head = 'HTTP/1.1 200 OK\r\n';
  const ok = 'content-length: 2\r\n\r\nok';
  test.each<[string, Behaviour]>([
    ['a folded line', answers(`${head}x-a: b\r\n c\r\n${ok}`)],
    ['a list of lengths', answers(`${head}content-length: 2, 2\r\n\r\nok`)],
    ['two lengths', answers(`${head}content-length: 1\r\ncontent-length: 2\r\n\r\nab`)],
    ['a negative length', answers(`${head}content-length: -1\r\n\r\nab`)],
    [
      'a length and chunks',
      answers(`${head}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
    ],
    ['an identity encoding', answers(`${head}transfer-encoding: identity\r\n${ok}`)],
    ['a blank before the colon', answers(`${head}content-length : 2\r\n\r\nok`)],
    ['a name with parentheses', answers(`${head}x-a(b): 1\r\n${ok}`)],
    ['a control character', answers(`${head}x-a: \u0001\r\n${ok}`)],
    ['a line without a colon', answers(`${head}nonsense\r\n${ok}`)],
    ['no reason', answers(`HTTP/1.1 200\r\nx-a(b): 1\r\n${ok}`)],
    ['line feeds alone', answers('HTTP/1.1 200 OK\nx-a(b): 1\ncontent-length: 2\n\nok')],
    [
      'an interim answer before',
      answers(`HTTP/1.1 103 Early\r\nlink: </a>\r\n\r\n${head}x-a(b): 1\r\n${ok}`),
    ],
    ['one header without end', answers(`${head}x-a: ${'b'.repeat(20_000)}`)],
    ['headers without end', endless('x-a: b\r\n'.repeat(100), 1)],
    ['headers that drip', endless('x-a: b\r\n', 20)],
    ['it hangs', answers(`${head}x-a: b\r\n`)],
    ['it hangs after the line', answers(head)],
    ['it ends', (socket) => void socket.end(`${head}x-a`)],
    [
      'it is reset',
      (socket) => {
        socket.write(head);
        setTimeout(() => socket.resetAndDestroy(), 50);
      },
    ],
    [
      'it comes byte by byte',
      (socket) => {
        const bytes = [...`HTTP/1.1 100 Continue\r\n\r\n${head}x-a(b): 1\r\n${ok}`];
        const timer = setInterval(() => {
          for (const byte of bytes.splice(0, 1)) socket.write(byte);
          if (bytes.length === 0) clearInterval(timer);
        }, 1);
        socket.on('close', () => clearInterval(timer));
      },
    ],
  ])('%s', async (_what, behave) => {
    const { receiver, post } = await setUp(behave);
    const result = await post();
    expect(result).toMatchObject({ statusCode: 200, errorClass: null, error: null });
    expect(result.elapsedMs).toBeLessThan(timeoutMs + slackMs);
    // The next request never gets the rest of this answer.
    expect(await post()).toMatchObject({ statusCode: 200 });
    await expect.poll(() => receiver.open()).toBeLessThanOrEqual(1);
  });

  test('a failure is one, too', async () => {
    const { post } = await setUp(answers(`HTTP/1.1 503 X\r\nx-a(b): 1\r\n${ok}`));
    expect(await post()).toMatchObject({ statusCode: 503, errorClass: 'status' });
  });

  test('the status of the answer before says nothing', async () => {
    const { post } = await setUp(
      (socket, _request, nth) => void socket.write(nth === 1 ? answer(200) : 'nonsense\r\n'),
    );
    expect(await post()).toMatchObject({ statusCode: 200 });
    expect(await post()).toMatchObject({ statusCode: null, errorClass: 'reset' });
  });

  test('what is not forbidden is shown', async () => {
    const { post } = await setUp(answers(`${head}x-a: b\r\n c\r\n${ok}`));
    expect(await post()).toMatchObject({
      responseHeaders: [['x-a', 'b c'], expect.anything()],
      responseBody: Buffer.from('ok'),
    });
  });
});

test('a body has a second more than its status, and not the whole time', async () => {
  const { post } = await setUp(
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const timer = setInterval(() => socket.write('x'), 50);
      socket.on('close', () => clearInterval(timer));
    },
    { timeoutMs: 60_000 },
  );
  const result = await post();
  expect(result).toMatchObject({ statusCode: 200, errorClass: null, responseTruncated: true });
  expect(result.elapsedMs).toBeLessThan(30_000);
});

test('an answer that arrived while the process stood still counts', async () => {
  const { receiver, post } = await setUp((socket) => void setTimeout(() => socket.write(answer(200)), 20));
  const posted = post();
  await expect.poll(() => receiver.requests.length).toBe(1);
  // The answer, after 20 ms, is surely in the socket.
  await sleep(100);
  // The answer is in the socket, and the timer is long due.
  const untilMs = performance.now() + timeoutMs + 500;
  while (performance.now() < untilMs);
  expect(await posted).toMatchObject({ statusCode: 200, errorClass: null });
});

test('a request whose answer came only after the process stood still gets the lost time', async () => {
  const { receiver, post } = await setUp((socket) => void setTimeout(() => socket.write(answer(200)), 150));
  const posted = post();
  await expect.poll(() => receiver.requests.length).toBe(1);
  const untilMs = performance.now() + timeoutMs + 500;
  while (performance.now() < untilMs);
  expect(await posted).toMatchObject({ statusCode: 200, errorClass: null });
});

describe('a 2xx in time is a success, whatever happens to the body:', () => {
  test.each<[string, string, Behaviour]>([
    ['it hangs after the head', '', answers('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n')],
    ['it hangs in the body', 'ab', answers('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab')],
    [
      'it resets in the body',
      'ab',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab');
        setTimeout(() => socket.resetAndDestroy(), 50);
      },
    ],
    [
      'it ends before the length it gave',
      'ab',
      (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab'),
    ],
    [
      'its chunks are not valid',
      '',
      answers('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nab\r\n'),
    ],
    [
      'its trailers never end',
      'ab',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n');
        const timer = setInterval(() => socket.write(`x-a: ${'b'.repeat(1000)}\r\n`), 1);
        socket.on('close', () => clearInterval(timer));
      },
    ],
  ])('%s', async (_what, body, behave) => {
    const { receiver, post } = await setUp(behave);
    const result = await post();
    expect(result).toMatchObject({ statusCode: 200, errorClass: null, error: null, responseTruncated: true });
    expect(result.responseBody?.toString() ?? '').toBe(body);
    expect(result.elapsedMs).toBeLessThan(timeoutMs + slackMs);
    await expect.poll(() => receiver.open()).toBe(0);
  });

  test('a body that drips past the deadline is kept up to the deadline', async () => {
    const { post } = await setUp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const timer = setInterval(() => socket.write('x'), 50);
      socket.on('close', () => clearInterval(timer));
    });
    const result = await post();
    expect(result).toMatchObject({ statusCode: 200, errorClass: null, responseTruncated: true });
    expect(result.responseBody?.length).toBeGreaterThan(3);
    expect(result.elapsedMs).toBeLessThan(timeoutMs + slackMs);
  });

  test('a body that ends with the connection is complete', async () => {
    const { post } = await setUp((socket) => void socket.end('HTTP/1.0 200 OK\r\n\r\nab'));
    expect(await post()).toMatchObject({ responseBody: Buffer.from('ab'), responseTruncated: false });
  });

  test('bytes beyond the announced length do not become the next answer', async () => {
    const { post } = await setUp(answers(`${answer(200, 'ab')}${answer(500, 'evil')}`));
    for (let at = 0; at < 3; at += 1) {
      expect(await post()).toMatchObject({ statusCode: 200, responseBody: Buffer.from('ab') });
      await sleep(20);
    }
  });
});

test('a failure status is a failure even if its body never ends', async () => {
  const { post } = await setUp(answers('HTTP/1.1 500 X\r\ncontent-length: 5\r\n\r\nab'));
  expect(await post()).toMatchObject({ statusCode: 500, errorClass: 'status', responseTruncated: true });
});

describe('an invalid answer gives class reset:', () => {
  const notHttp = expect.stringMatching(/^The answer is not valid HTTP\/1\.1(: [\w /,-]+)?\.$/);
  const ended = 'The connection ended before an answer came.';
  test.each<[string, unknown, Behaviour]>([
    ['a reset', ended, (socket) => void socket.resetAndDestroy()],
    ['an end', ended, (socket) => void socket.end()],
    ['an end in the status line', ended, (socket) => void socket.end('HTTP/1.1 200 O')],
    ['another protocol', notHttp, answers('SSH-2.0-OpenSSH_9.2\r\n')],
    ['TLS', notHttp, answers(Buffer.from('150303000202', 'hex'))],
    ['a status that is no number', notHttp, answers('HTTP/1.1 abc OK\r\n\r\n')],
    ['an upgrade', notHttp, answers('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')],
    [
      'interim answers without end',
      'The answer never began.',
      answers('HTTP/1.1 103 Early\r\n\r\n'.repeat(1000)),
    ],
  ])('%s', async (_what, error, behave) => {
    const { receiver, post } = await setUp(behave);
    expect(await post()).toMatchObject({ statusCode: null, errorClass: 'reset', error });
    await expect.poll(() => receiver.open()).toBe(0);
  });
});

describe('interim answers are ignored, and the final status counts', () => {
  const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n';
  const goOn = 'HTTP/1.1 100 Continue\r\n\r\n';
  test.each([
    ['100 Continue', goOn],
    ['100 Continue with headers', 'HTTP/1.1 100 Continue\r\ndate: now\r\ncontent-length: 0\r\n\r\n'],
    ['103 Early Hints', hints],
    ['102 Processing', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['an unknown 1xx', 'HTTP/1.1 199 X\r\n\r\n'],
    ['all of them, more than once', goOn + hints + goOn + hints],
  ])('%s', async (_what, interim) => {
    const { receiver, post } = await setUp(answers(`${interim}${answer(201, 'ok')}`));
    const created = { statusCode: 201, errorClass: null, error: null, responseBody: Buffer.from('ok') };
    expect(await post()).toMatchObject(created);
    // The connection can be reused.
    expect(await post()).toMatchObject({ ...created, connectMs: null });
    expect(receiver.connections()).toBe(1);
  });
});

test('a refused connection gives class connect', async () => {
  const { receiver, poster } = await setUp(answers(answer(200)));
  await receiver[Symbol.asyncDispose]();
  close.shift();
  expect(await poster.post({ url: receiver.url, headers: [], body: '' })).toMatchObject({
    errorClass: 'connect',
    error: 'The connection was refused.',
    address: null,
  });
});

test.each([
  ['not a url', 'The URL is not one that is delivered to.'],
  ['ftp://example.com/', 'The URL is not one that is delivered to.'],
  ['http://user:pass@example.com/', 'The URL is not one that is delivered to.'],
  ['http://example.com/', 'The URL does not begin with https://.'],
])('%s is refused', async (url, error) => {
  const { poster } = await setUp(answers(answer(200)), { allowHttp: false });
  expect(await poster.post({ url, headers: [], body: '' })).toMatchObject({
    errorClass: 'blocked_address',
    error,
  });
});

test('a header that cannot be sent is a failure, not an exception', async () => {
  const { receiver, poster } = await setUp(answers(answer(200)));
  const headers = [['x-a', 'b\r\nx-c: d']] as const;
  expect(await poster.post({ url: receiver.url, headers, body: '' })).toMatchObject({ errorClass: 'reset' });
  expect(receiver.requests).toEqual([]);
});

describe('of a body', () => {
  test.each([
    [16 * 1024, 16 * 1024, false],
    [16 * 1024 + 1, 16 * 1024, true],
    [64 * 1024, 16 * 1024, true],
    [10 * 1024 * 1024, 16 * 1024, true],
  ])('with %i bytes %i are kept', async (length, kept, cut) => {
    const { receiver, post } = await setUp(answers(answer(200, 'x'.repeat(length))));
    const result = await post();
    expect(result.responseBody?.length).toBe(kept);
    expect(result).toMatchObject({ responseTruncated: cut, errorClass: null });
    // After a complete body the connection is reused; after a longer one it is closed.
    await expect.poll(() => receiver.open()).toBe(length > 64 * 1024 ? 0 : 1);
  });

  const inflated = [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
    ['br', (body: Buffer) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ] as const;
  test.each(inflated)(
    'compressed with %s the start of the decompressed text is kept, and a bomb is expanded no further',
    async (encoding, compress) => {
      const bodies = [Buffer.from('{"ok":true}'), Buffer.alloc(64 * 1024 * 1024)];
      // Before the posts, whose time limit is short.
      const compressed = bodies.map((body) => compress(body));
      let at = 0;
      const { post } = await setUp(
        (socket) => {
          const bytes = compressed[at++]!;
          socket.write(
            `HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${bytes.length}\r\n\r\n`,
          );
          socket.write(bytes);
        },
        { timeoutMs: 8000 },
      );
      expect(await post()).toMatchObject({ responseBody: bodies[0], responseTruncated: false });
      const before = process.memoryUsage.rss();
      const bomb = await post();
      expect(bomb.responseBody?.equals(Buffer.alloc(16 * 1024))).toBe(true);
      expect(bomb).toMatchObject({ responseTruncated: true, errorClass: null });
      expect(process.memoryUsage.rss() - before).toBeLessThan(32 * 1024 * 1024);
    },
    20_000,
  );

  test.each(['zstd', 'gzip, gzip', 'nonsense', 'gzip'])(
    'that does not match its encoding %s the raw bytes are kept',
    async (encoding) => {
      const { post } = await setUp(answers(answer(200, 'plain', `content-encoding: ${encoding}\r\n`)));
      expect(await post()).toMatchObject({ responseBody: Buffer.from('plain'), responseTruncated: false });
    },
  );
});

test('at most 64 headers and 8 KiB of them are kept', async () => {
  const many = await setUp(
    answers(answer(200, '', Array.from({ length: 200 }, (_, at) => `x-${at}: a\r\n`).join(''))),
  );
  expect((await many.post()).responseHeaders).toHaveLength(64);
  const large = await setUp(answers(answer(200, '', `x-a: a\r\nx-b: ${'b'.repeat(10_000)}\r\n`)));
  expect((await large.post()).responseHeaders).toEqual([
    ['content-length', '0'],
    ['x-a', 'a'],
  ]);
});

describe('connections', () => {
  test('are reused, and as many are open as are needed at once', async () => {
    const { receiver, poster, post } = await setUp(
      (socket) => void setTimeout(() => socket.write(answer(200)), 20),
    );
    for (let round = 0; round < 3; round += 1) await Promise.all(Array.from({ length: 30 }, () => post()));
    expect(receiver.connections()).toBe(30);
    expect(poster.counts()).toEqual({ open: 30, idle: 30 });
  });

  test('that the receiver has closed cost no attempt', async () => {
    const { receiver, post } = await setUp((socket) => void socket.end(answer(200)));
    for (let at = 0; at < 5; at += 1) {
      expect(await post()).toMatchObject({ statusCode: 200, errorClass: null });
      await expect.poll(() => receiver.open()).toBe(0);
    }
    expect(receiver.requests).toHaveLength(5);
  });

  test('that end without an answer get no second request', async () => {
    const behave: Behaviour = (socket, _request, nth) => {
      if (nth % 2 === 0) setTimeout(() => socket.destroy(), 3_000);
      else socket.write(answer(200));
    };
    const { receiver, post } = await setUp(behave, { timeoutMs: 60_000 });
    expect(await post()).toMatchObject({ statusCode: 200 });
    expect(await post()).toMatchObject({ errorClass: 'reset', wasUnread: false });
    expect(receiver.requests).toHaveLength(2);
  });

  test('that end within a round trip were not read, and then none of that receiver is kept', async () => {
    const { receiver, poster, post } = await setUp((socket, _request, nth) => {
      if (nth === 2) socket.destroy();
      else socket.write(answer(200));
    });
    expect(await post()).toMatchObject({ wasUnread: false });
    expect(await post()).toMatchObject({ errorClass: 'reset', wasUnread: true });
    expect(receiver.requests).toHaveLength(2);
    expect(await post()).toMatchObject({ statusCode: 200 });
    expect(poster.counts()).toEqual({ open: 0, idle: 0 });
  });

  test('a new connection that ends at once may have been read', async () => {
    const { post } = await setUp((socket) => void socket.destroy());
    expect(await post()).toMatchObject({ errorClass: 'reset', wasUnread: false });
  });
});

test('closing waits for requests under way and accepts no more', async () => {
  const { poster, post } = await setUp((socket) => void setTimeout(() => socket.write(answer(200)), 100));
  const underWay = post();
  await sleep(20);
  await poster.close();
  expect(poster.counts()).toEqual({ open: 0, idle: 0 });
  expect(await underWay).toMatchObject({ statusCode: 200 });
  expect(await post()).toMatchObject({ errorClass: 'connect', error: 'The sender is being shut down.' });
});
