import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { type Authority, makeAuthority } from '@causeway/runtime/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { answer, type RawReceiver, startRawReceiver } from '../testing/raw-receiver.ts';
import { createPoster, type Poster } from './post.ts';

let authority: Authority;
beforeAll(() => {
  authority = makeAuthority();
});
afterAll(() => authority.remove());

const close: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const one of close.splice(0).reverse()) await one();
});

const host = 'hooks.example.com';

const setUp = async (
  tls: TlsOptions,
  { trusted = true, timeoutMs = 30_000 } = {},
): Promise<{ receiver: RawReceiver; poster: Poster }> => {
  const receiver = await startRawReceiver((socket) => socket.write(answer(200, 'ok')), { tls });
  const poster = createPoster({
    allowPrivate: true,
    allowHttp: false,
    timeoutMs,
    resolve: async () => ['127.0.0.1'],
    ...(trusted ? { ca: authority.ca } : {}),
  });
  close.push(() => receiver[Symbol.asyncDispose](), poster.close);
  return { receiver, poster };
};

const post = (poster: Poster, { port }: RawReceiver, name = host) =>
  poster.post({ url: `https://${name}:${port}/`, headers: [], body: '{}' });

test('a receiver with a valid certificate gets the request, and the connection is reused', async () => {
  const asked: string[] = [];
  const { receiver, poster } = await setUp({
    ...authority.issue(host),
    SNICallback: (name, done) => {
      asked.push(name);
      done(null);
    },
  });
  const first = await post(poster, receiver);
  expect(first).toMatchObject({ statusCode: 200, errorClass: null, address: '127.0.0.1' });
  expect(first.tlsMs).toBeGreaterThanOrEqual(0);
  expect(await post(poster, receiver)).toMatchObject({ statusCode: 200, tlsMs: null, connectMs: null });
  expect(receiver.connections()).toBe(1);
  // The certificate is checked for the name, although the connection goes to the address.
  expect(asked).toEqual([host]);
});

test('a certificate for an address serves a URL with that address', async () => {
  const { receiver, poster } = await setUp(authority.issue('127.0.0.1'));
  expect(await post(poster, receiver, '127.0.0.1')).toMatchObject({ statusCode: 200 });
});

describe('no request is sent to a receiver whose certificate', () => {
  test.each<[string, string, () => TlsOptions, boolean]>([
    ['has expired', 'The certificate has expired.', () => authority.issue(host, -1), true],
    ['is of another host', 'The certificate is of another host.', () => authority.issue('example.org'), true],
    ['is self-signed', 'The certificate is self-signed.', () => authority.selfSigned(host), true],
    [
      'is of an unknown authority',
      'The certificate is of an authority that is not trusted, or the ones between it and its authority are not sent.',
      () => authority.issue(host),
      false,
    ],
  ])('%s', async (_what, error, tls, trusted) => {
    const { receiver, poster } = await setUp(tls(), { trusted });
    const result = await post(poster, receiver);
    expect(result).toMatchObject({ errorClass: 'tls', error, statusCode: null, address: '127.0.0.1' });
    expect(result.connectMs).not.toBeNull();
    expect(receiver.requests).toEqual([]);
    await expect.poll(() => poster.counts()).toEqual({ open: 0, idle: 0 });
  });

  test('is invalid, even if an environment variable disables verification', async () => {
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      const { receiver, poster } = await setUp(authority.selfSigned(host));
      expect(await post(poster, receiver)).toMatchObject({ errorClass: 'tls' });
    } finally {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
    }
  });
});

test('a receiver that only speaks old versions of TLS gives class tls', async () => {
  const old = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  const { receiver, poster } = await setUp({ ...authority.issue(host), ...old });
  expect(await post(poster, receiver)).toMatchObject({
    errorClass: 'tls',
    error: 'The receiver speaks no version of TLS from 1.2 on.',
  });
});

test('a receiver that breaks the protocol right after the handshake crashes nothing', async () => {
  const { receiver, poster } = await setUp(authority.issue(host));
  // Forwards the receiver's data, followed by a record that does not decrypt.
  const broken = Buffer.concat([Buffer.from('1703030040', 'hex'), Buffer.alloc(64)]);
  const between = createServer((socket) => {
    const inner = connect(receiver.port, '127.0.0.1');
    socket.on('error', () => {}).pipe(inner.on('error', () => {}));
    inner.once('data', (flight) => socket.write(Buffer.concat([flight, broken])));
  });
  await once(between.listen(0, '127.0.0.1'), 'listening');
  close.push(async () => void between.close());
  const { port } = between.address() as AddressInfo;
  for (let at = 0; at < 20; at += 1) {
    const result = await poster.post({ url: `https://${host}:${port}/`, headers: [], body: '{}' });
    expect(result.errorClass).toMatch(/^(tls|reset|connect)$/);
  }
});

describe('a receiver that does not speak TLS', () => {
  const plain = async (greet: (socket: Socket) => void, timeoutMs?: number) => {
    const receiver = await startRawReceiver(() => {}, { greet });
    close.push(() => receiver[Symbol.asyncDispose]());
    const { poster } = await setUp(authority.issue(host), { timeoutMs });
    return { receiver, poster };
  };

  test('gives class tls', async () => {
    const { receiver, poster } = await plain((socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n'));
    expect(await post(poster, receiver)).toMatchObject({
      errorClass: 'tls',
      error: 'The receiver does not speak TLS on this port.',
    });
  });

  test('and sends nothing gives class timeout at the deadline', async () => {
    const { receiver, poster } = await plain(() => {}, 1_000);
    const result = await post(poster, receiver);
    expect(result).toMatchObject({
      errorClass: 'timeout',
      error: 'No TLS connection within 1 s.',
      tlsMs: null,
    });
    await expect.poll(() => receiver.open()).toBe(0);
  });

  test('and closes the connection gives class tls', async () => {
    const { receiver, poster } = await plain((socket) => socket.end());
    expect(await post(poster, receiver)).toMatchObject({
      errorClass: 'tls',
      error: 'The connection ended during the TLS handshake.',
    });
  });
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a receiver of %s that wants a client certificate is named',
  async (version) => {
    const wanting = { requestCert: true, rejectUnauthorized: true, minVersion: version, maxVersion: version };
    const { receiver, poster } = await setUp({ ...authority.issue(host), ca: authority.ca, ...wanting });
    expect(await post(poster, receiver)).toMatchObject({
      errorClass: 'tls',
      error: expect.stringContaining('client certificate, which Causeway does not have'),
    });
    expect(receiver.requests).toEqual([]);
  },
);

test('a host with a trailing dot is asked for without it', async () => {
  const asked: string[] = [];
  const { receiver, poster } = await setUp({
    ...authority.issue(host),
    SNICallback: (name, done) => {
      asked.push(name);
      done(null);
    },
  });
  expect(await post(poster, receiver, `${host}.`)).toMatchObject({ statusCode: 200 });
  expect(asked).toEqual([host]);
});
