import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { connectBus } from './bus.ts';
import type { NatsFiles } from './nats-address.ts';
import { cleanUp, makeAuthority, testNats } from './testing/index.ts';

const authority = makeAuthority();
cleanUp(() => authority.remove());
const stranger = makeAuthority();
cleanUp(() => stranger.remove());

const serverFor = async (name: string, more: object = {}): Promise<number> => {
  const { certFile, keyFile } = authority.issue(name);
  const nats = await testNats({ tls: { cert_file: certFile, key_file: keyFile, ...more } });
  return Number(new URL(nats.url).port);
};

const ca = { caFile: authority.caFile };
const reach = async (url: string, files: NatsFiles = ca): Promise<string> => {
  const bus = await connectBus({ url, files, name: 'test' });
  try {
    bus.nc.subscribe('echo', { callback: (_, message) => void message.respond(message.data) });
    return (await bus.nc.request('echo', 'hello')).string();
  } finally {
    await bus.close();
  }
};

const byName = await serverFor('localhost');
const byAddress = await serverFor('127.0.0.1');
const elsewhere = await serverFor('nats.example.com');
const plain = Number(new URL((await testNats()).url).port);

test('a server with a certificate of the given authority, for its name or address, is used', async () => {
  expect(await reach(`tls://localhost:${byName}`)).toBe('hello');
  expect(await reach(`tls://127.0.0.1:${byAddress}`)).toBe('hello');
});

test('a server without TLS is not used, and gets no password', async () => {
  await expect(reach(`tls://127.0.0.1:${plain}`)).rejects.toThrow(
    'NATS_URL asks for TLS, and the NATS server offers none',
  );
  const heard: Buffer[] = [];
  const listener = createServer((socket) => {
    socket.on('data', (bytes) => heard.push(bytes)).on('error', () => {});
    socket.write(
      'INFO {"server_id":"x","version":"2.14.3","proto":1,"headers":true,"max_payload":1048576}\r\n',
    );
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  cleanUp(() => void listener.close());
  const { port } = listener.address() as { port: number };
  await expect(reach(`tls://crm:secret@127.0.0.1:${port}`)).rejects.toThrow(/offers none/);
  expect(Buffer.concat(heard).toString()).toBe('');
});

test('a server with a certificate of another authority is not used', async () => {
  const why = /not from an authority in NATS_CA_FILE, or known to Node/;
  await expect(reach(`tls://localhost:${byName}`, { caFile: stranger.caFile })).rejects.toThrow(why);
  await expect(reach(`tls://localhost:${byName}`, {})).rejects.toThrow(why);
});

test.each([
  ['a name', () => `tls://localhost:${elsewhere}`],
  ['an address', () => `tls://127.0.0.1:${elsewhere}`],
  // Node checks this name if a client gives none, as for an address.
  ['an address, while it is for localhost', () => `tls://127.0.0.1:${byName}`],
])('a server whose certificate is for another host is not used by %s', async (_, url) => {
  await expect(reach(url())).rejects.toThrow(
    /the NATS server's certificate is for another host: .*altnames/i,
  );
});

test('a server that requires client certificates gets the given one, and refuses clients without', async () => {
  const port = await serverFor('localhost', { ca_file: authority.caFile, verify: true });
  const { certFile, keyFile } = authority.issue('crm');
  expect(await reach(`tls://localhost:${port}`, { ...ca, certFile, keyFile })).toBe('hello');
  const other = stranger.issue('crm');
  const refused = [ca, { ...ca, certFile: other.certFile, keyFile: other.keyFile }];
  const outcomes = await Promise.allSettled(refused.map((files) => reach(`tls://localhost:${port}`, files)));
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test.each<[string, NatsFiles, RegExp]>([
  ['nats://a:4222,tls://b:4222', {}, /each URL of NATS_URL must begin with tls:\/\/, or each with nats:\/\//],
  ['http://a:4222', {}, /must begin with tls/],
  [
    'nats://a:4222',
    { caFile: authority.caFile },
    /NATS_CA_FILE has no effect while NATS_URL begins with nats/,
  ],
  ['tls://a:4222', { caFile: '/nowhere/ca.crt' }, /NATS_CA_FILE: the file cannot be read/],
  ['tls://a:4222', { certFile: authority.caFile }, /NATS_CERT_FILE and NATS_KEY_FILE go together/],
  ['what', {}, /NATS_URL is not a list of URLs/],
])('%s with %j is a configuration error', async (url, files, sentence) => {
  await expect(connectBus({ url, files, name: 'test' })).rejects.toThrow(sentence);
});
