import { connectDatabase } from '@causeway/runtime';
import { cleanUp, makeAuthority, provided } from '@causeway/runtime/testing';
import { sql } from 'kysely';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { expect, test } from 'vitest';

const provider = new URL(provided('mysqlUrl'));
const admin = await createConnection(provider.href);
cleanUp(() => admin.end());
/** A server on another machine cannot get certificates from here. */
const within = ['127.0.0.1', 'localhost'].includes(provider.hostname);
const authority = makeAuthority();
cleanUp(() => authority.remove());
const stranger = makeAuthority();
cleanUp(() => stranger.remove());

/** Sets the server's certificate from now on; connections of other tests are plain. */
const presents = async (name: string): Promise<void> => {
  const { certFile, keyFile } = authority.issue(name);
  await admin.query('SET GLOBAL ssl_ca = ?, GLOBAL ssl_cert = ?, GLOBAL ssl_key = ?', [
    authority.caFile,
    certFile,
    keyFile,
  ]);
  await admin.query('ALTER INSTANCE RELOAD TLS');
};
const [[before]] = await admin.query<(RowDataPacket & { ca: string; cert: string; key: string })[]>(
  'SELECT @@ssl_ca AS ca, @@ssl_cert AS cert, @@ssl_key AS `key`',
);
cleanUp(async () => {
  if (!within) return;
  const { ca, cert, key } = before!;
  await admin.query('SET GLOBAL ssl_ca = ?, GLOBAL ssl_cert = ?, GLOBAL ssl_key = ?', [ca, cert, key]);
  await admin.query('ALTER INSTANCE RELOAD TLS');
});

const cipherBy = async (parameters: string): Promise<string> => {
  const url = new URL(`${provider.href}?${parameters}`);
  url.hostname = 'localhost';
  const db = connectDatabase({ url: url.href, poolSize: 1, tenantTables: new Set() });
  try {
    const { rows } = await sql<{ Value: string }>`SHOW SESSION STATUS LIKE 'Ssl_cipher'`.execute(db);
    return rows[0]?.Value ?? '';
  } finally {
    await db.close();
  }
};
const by = ({ caFile }: { caFile: string }, mode = 'verify') => cipherBy(`tls=${mode}&tlsCaFile=${caFile}`);

test.runIf(within)(
  'a server with a certificate of the given authority for its own name is accepted, and the connection is encrypted',
  async () => {
    await presents('localhost');
    expect(await by(authority)).toMatch(/^TLS_/);
  },
);

test.runIf(within)('a server with a certificate of another authority is refused', async () => {
  await presents('localhost');
  await expect(by(stranger)).rejects.toThrow();
  await expect(cipherBy('tls=verify')).rejects.toThrow();
  await expect(by(stranger, 'verify-ca')).rejects.toThrow();
});

test.runIf(within)(
  'a server with a certificate for another name is refused, unless the name is not checked',
  async () => {
    await presents('mysql.example.com');
    await expect(by(authority)).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/altnames/) },
    });
    expect(await by(authority, 'verify-ca')).toMatch(/^TLS_/);
  },
);

test('without a TLS setting, a connection is plain', async () => {
  expect(await cipherBy('tls=off')).toBe('');
});
