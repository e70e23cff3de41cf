import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { unresolvedHost } from '@causeway/proto';
import { afterEach, describe, expect, test } from 'vitest';
import { answer, type RawReceiver, startRawReceiver } from '../testing/raw-receiver.ts';
import { createPoster, type Poster, type PosterOptions } from './post.ts';
import { createResolver, createSystemResolver } from './resolve.ts';

// A real receiver stands in place of each blocked address, and must get no connection.

const close: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const one of close.splice(0).reverse()) await one();
});

const receiver = async (host?: string): Promise<RawReceiver> => {
  const one = await startRawReceiver((socket) => socket.write(answer(200, 'ok')), host ? { host } : {});
  close.push(() => one[Symbol.asyncDispose]());
  return one;
};

const names = async (zone: Zone): Promise<NameServer> => {
  const one = await startNameServer(zone);
  close.push(() => one[Symbol.asyncDispose]());
  return one;
};

const poster = (options: Partial<PosterOptions>): Poster => {
  const one = createPoster({ allowPrivate: false, allowHttp: true, timeoutMs: 30_000, ...options });
  close.push(() => one.close());
  return one;
};

const post = (from: Poster, url: string) => from.post({ url, headers: [], body: '{}' });
const loopback = [127, 0, 0, 1] as const;
const loopback6 = [...Array<number>(15).fill(0), 1];
/** Public addresses that are hardly ever routed: relays that nobody runs (RFC 7450). */
const publicly = [192, 52, 193, 1] as const;
const only4 =
  (...records: (readonly number[])[]): Zone =>
  (_name, type) =>
    type === 'A' ? records : [];

const setUp = async (zone: Zone, options: Partial<PosterOptions> = {}, resolveMs = 1500) => {
  const [inside, server] = [await receiver(), await names(zone)];
  const resolve = createResolver({ servers: [server.server], timeoutMs: resolveMs });
  const from = poster({ resolve, ...options });
  return { inside, server, from, resolve, url: `http://hooks.example.com:${inside.port}/` };
};

describe('a blocked address', () => {
  test.each([
    ['127.0.0.1.', 'a loopback address'],
    ['[64:ff9b::808:808]', 'an IPv6 address that carries an IPv4 address'],
    ['metadata.google.internal', 'a name of a local network'],
  ])('is refused as the host %s, without a look-up', async (host, why) => {
    const { inside, server, from } = await setUp(only4(loopback));
    expect(await post(from, `http://${host}:${inside.port}/`)).toMatchObject({
      errorClass: 'blocked_address',
      error: `The host is ${why}, which is not delivered to.`,
      statusCode: null,
      address: null,
    });
    expect([inside.connections(), server.asked]).toEqual([0, []]);
  });

  test('is refused in a DNS answer, with the error of a name that does not exist', async () => {
    const { inside, from, url } = await setUp(only4([10, 1, 2, 3]));
    const result = await post(from, url);
    expect(result).toMatchObject({ errorClass: 'dns', error: unresolvedHost('hooks.example.com') });
    const unknown = await setUp(() => 'nxdomain');
    const { errorClass, error } = await post(unknown.from, unknown.url);
    expect({ errorClass, error }).toEqual({ errorClass: result.errorClass, error: result.error });
    expect(JSON.stringify(result)).not.toContain('10.1.2.3');
    expect(inside.connections()).toBe(0);
  });

  test.each<[string, Zone]>([
    ['among public ones', only4(publicly, loopback)],
    ['before public ones', only4(loopback, publicly)],
    ['of the other family', (_name, type) => (type === 'A' ? [publicly] : [loopback6])],
    ['of an AAAA record that is all there is', (_name, type) => (type === 'A' ? [] : [loopback6])],
  ])('makes the whole DNS answer refused %s', async (_where, zone) => {
    const { inside, from, url } = await setUp(zone);
    expect(await post(from, url)).toMatchObject({ errorClass: 'dns', connectMs: null });
    expect(inside.connections()).toBe(0);
  });

  test('cannot be swapped in after the check: a name is looked up once', async () => {
    // The first answer is public, every later one is the loopback address.
    const zone: Zone = (_name, type, nth) => (type === 'AAAA' ? [] : [nth === 1 ? publicly : loopback]);
    const { inside, server, from, resolve, url } = await setUp(zone);
    const hasty = poster({ resolve, timeoutMs: 500 });
    const results = [await post(hasty, url), await post(from, url), await post(from, url)];
    // The first attempt went to an address that does not answer, and made no second look-up.
    expect(results.map(({ errorClass }) => errorClass)[0]).toMatch(/timeout|connect/);
    expect(results.slice(1).map(({ errorClass }) => errorClass)).toEqual(['dns', 'dns']);
    expect(server.asked.filter((one) => one.startsWith('A '))).toHaveLength(3);
    expect(inside.connections()).toBe(0);
  });
});

test('with private addresses allowed, they are reached by address and by name', async () => {
  const { inside, from, url } = await setUp(only4(loopback), { allowPrivate: true });
  expect(await post(from, url)).toMatchObject({ statusCode: 200, address: '127.0.0.1', errorClass: null });
  expect(await post(from, inside.url)).toMatchObject({ statusCode: 200, dnsMs: null });
});

test('localhost is resolved by the machine if private addresses are allowed', async () => {
  const inside = await receiver();
  const from = poster({ allowPrivate: true });
  expect(await post(from, `http://localhost:${inside.port}/`)).toMatchObject({
    statusCode: 200,
    address: '127.0.0.1',
  });
});

test('of several addresses the next is tried when one refuses the connection', async () => {
  // Nothing listens on 127.0.0.2 at that port.
  const { from, url } = await setUp(only4([127, 0, 0, 2], loopback), { allowPrivate: true });
  expect(await post(from, url)).toMatchObject({ statusCode: 200, address: '127.0.0.1' });
});

test('connections that are opened at once share one look-up', async () => {
  const { server, from, url } = await setUp(only4(loopback), { allowPrivate: true });
  const results = await Promise.all(Array.from({ length: 20 }, () => post(from, url)));
  expect(results.every(({ statusCode }) => statusCode === 200)).toBe(true);
  expect(server.asked).toHaveLength(2);
});

test('a port that is not allowed is refused before any look-up', async () => {
  const { inside, server, from, url } = await setUp(only4(loopback), {
    allowPrivate: true,
    ports: new Set([443, 1]),
  });
  expect(await post(from, url)).toMatchObject({
    errorClass: 'blocked_address',
    error: `The port of the URL is ${inside.port}; deliveries go to these ports only: 1, 443; an operator allows others with WEBHOOKS_PORTS.`,
    statusCode: null,
  });
  expect([inside.connections(), server.asked]).toEqual([0, []]);
});

test('without any setting deliveries go to the ports of HTTPS only', async () => {
  const { inside, from } = await setUp(only4(loopback), { allowHttp: false });
  expect(await post(from, `https://hooks.example.com:${inside.port}/`)).toMatchObject({
    errorClass: 'blocked_address',
    error: `The port of the URL is ${inside.port}; deliveries go to these ports only: 443, 8443; an operator allows others with WEBHOOKS_PORTS.`,
  });
});

describe('a name', () => {
  test('is queried as an absolute name', async () => {
    const { server, from, url } = await setUp(() => 'nxdomain');
    await post(from, url);
    expect(new Set(server.asked)).toEqual(new Set(['A hooks.example.com', 'AAAA hooks.example.com']));
  });

  test.each<[string, Zone, string]>([
    ['does not exist', () => 'nxdomain', unresolvedHost('hooks.example.com')],
    ['has no address', () => [], unresolvedHost('hooks.example.com')],
    [
      'whose servers fail',
      (name) => (name === '' ? [] : 'servfail'),
      'The host hooks.example.com could not be resolved: its name servers failed.',
    ],
    [
      'whose servers fail for one family, and have none of the other',
      (name, type) => (type === 'A' && name !== '' ? 'servfail' : []),
      'The host hooks.example.com could not be resolved: its name servers failed.',
    ],
    [
      'whose servers are silent',
      (name) => (name === '' ? [] : 'silence'),
      'The name servers of hooks.example.com did not answer in time.',
    ],
  ])('that %s gives class dns', async (_what, zone, error) => {
    const { from, url } = await setUp(zone);
    const result = await post(from, url);
    expect(result).toMatchObject({ errorClass: 'dns', error, statusCode: null, address: null });
    expect(result.elapsedMs).toBeLessThan(20_000);
    expect(result.dnsMs).toBeGreaterThanOrEqual(0);
  });

  const isRoot = (name: string): boolean => name === '';
  test.each<[string, Zone, string | null]>([
    ['silent, but not this machine’s', (name) => (isRoot(name) ? [] : 'silence'), null],
    ['failing, but not this machine’s', (name) => (isRoot(name) ? [] : 'servfail'), null],
    ['silent like all others', () => 'silence', 'ETIMEOUT'],
    ['failing like all others', () => 'servfail', 'ESERVFAIL'],
  ])('whose servers are %s: whose fault that is', async (_what, zone, ownFault) => {
    const { server, from, url } = await setUp(zone);
    expect(await post(from, url)).toMatchObject({ errorClass: 'dns', ownFault });
    const { length } = server.asked.filter((one) => one === 'A ');
    expect(length).toBe(1);
    // Asked about once in a while, not for each name.
    await post(from, url);
    expect(server.asked.filter((one) => one === 'A ')).toHaveLength(1);
  });

  test('cannot be looked up while no name server listens', async () => {
    const resolve = createResolver({ servers: ['127.0.0.1:1'], timeoutMs: 2000 });
    await expect(resolve('hooks.example.com')).rejects.toMatchObject({
      errorClass: 'dns',
      ownFault: expect.any(String),
    });
  });

  test('whose servers are silent about AAAA is reached by its A record, a second later', async () => {
    const zone: Zone = (_name, type) => (type === 'A' ? [loopback] : 'silence');
    const { from, url } = await setUp(zone, { allowPrivate: true, timeoutMs: 60_000 }, 50_000);
    const result = await post(from, url);
    expect(result).toMatchObject({ statusCode: 200, errorClass: null });
    expect(result.dnsMs).toBeLessThan(30_000);
  });

  test('that resolves too slowly ends at the deadline', async () => {
    const { from, url } = await setUp(() => 'silence', { timeoutMs: 400 });
    const result = await post(from, url);
    expect(result).toMatchObject({ errorClass: 'timeout', error: 'The host was not resolved within 0.4 s.' });
  });

  test('that the machine does not know gives class dns', async () => {
    const resolve = createSystemResolver({ timeoutMs: 2000 });
    await expect(resolve('no-such-host.invalid')).rejects.toMatchObject({ errorClass: 'dns' });
  });
});

/** The records for the nth query of a name; `servfail` fails, and `silence` sends no answer. */
type Zone = (
  name: string,
  type: 'A' | 'AAAA',
  nth: number,
) => readonly (readonly number[])[] | 'nxdomain' | 'servfail' | 'silence';

interface NameServer {
  readonly server: string;
  readonly asked: string[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** One question per packet (RFC 1035, section 4). */
const startNameServer = async (zone: Zone): Promise<NameServer> => {
  const asked: string[] = [];
  const counts = new Map<string, number>();
  const socket = createSocket('udp4', (packet, from) => {
    const { name, type, end } = questionOf(packet);
    const family = type === 28 ? 'AAAA' : 'A';
    asked.push(`${family} ${name}`);
    const nth = (counts.get(`${family} ${name}`) ?? 0) + 1;
    counts.set(`${family} ${name}`, nth);
    const found = zone(name, family, nth);
    if (found === 'silence') return;
    const records = typeof found === 'string' ? [] : found;
    const code = found === 'nxdomain' ? 3 : found === 'servfail' ? 2 : 0;
    const head = Buffer.from(packet.subarray(0, 12));
    head.writeUInt16BE(0x8180 | code, 2);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt32BE(0, 8);
    const answers = records.map((bytes) => {
      const record = Buffer.alloc(12);
      record.writeUInt16BE(0xc00c, 0);
      record.writeUInt16BE(type, 2);
      record.writeUInt16BE(1, 4);
      record.writeUInt32BE(0, 6);
      record.writeUInt16BE(bytes.length, 10);
      return Buffer.concat([record, Buffer.from(bytes)]);
    });
    socket.send(Buffer.concat([head, packet.subarray(12, end), ...answers]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    server: `127.0.0.1:${socket.address().port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
};

const questionOf = (
  packet: Buffer,
): { readonly name: string; readonly type: number; readonly end: number } => {
  const labels: string[] = [];
  let at = 12;
  for (let length = packet[at] ?? 0; length > 0; length = packet[at] ?? 0) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: packet.readUInt16BE(at + 1), end: at + 5 };
};
