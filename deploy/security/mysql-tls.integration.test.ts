import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { connectDatabase } from '@causeway/runtime';
import { cleanUp, provided } from '@causeway/runtime/testing';
import { sql } from 'kysely';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { expect, test } from 'vitest';

const url = provided('mysqlUrl');
const admin = await createConnection(url);
cleanUp(() => admin.end());
const [[server]] = await admin.query<(RowDataPacket & { folder: string })[]>('SELECT @@datadir AS folder');
/** The authority that the server has made for itself; out of reach where the server is on another machine. */
const authority = join(server?.folder ?? '', 'ca.pem');
const within = existsSync(authority);

/** The cipher of a connection of ours; rejects where none comes about. */
const cipherBy = async (parameters: string): Promise<string> => {
  const db = connectDatabase({ url: `${url}?${parameters}`, poolSize: 1, tenantTables: new Set() });
  try {
    const { rows } = await sql<{ Value: string }>`SHOW SESSION STATUS LIKE 'Ssl_cipher'`.execute(db);
    return rows[0]?.Value ?? '';
  } finally {
    await db.close();
  }
};

test.runIf(within)(
  'a server of the authority that is given is let in, and the connection is encrypted',
  async () => {
    expect(await cipherBy(`tls=verify&tlsCaFile=${authority}`)).toMatch(/^TLS_/);
  },
);

test.runIf(within)('a server of any other authority is not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-authority-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  const other = join(folder, 'ca.pem');
  writeFileSync(other, rootCertificates[0]!);
  await expect(cipherBy(`tls=verify&tlsCaFile=${other}`)).rejects.toThrow();
  await expect(cipherBy('tls=verify')).rejects.toThrow();
});

test('without being told to, a connection is plain', async () => {
  expect(await cipherBy('tls=off')).toBe('');
});
