import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeAddress, parseMysqlUrl } from './url.ts';

describe('a MySQL URL', () => {
  it('is parsed into server and user, percent-decoded', () => {
    expect(parseMysqlUrl('mysql://me:p%40ss%2Fword@db.example:3307/crm')).toEqual({
      host: 'db.example',
      port: 3307,
      user: 'me',
      password: 'p@ss/word',
      database: 'crm',
    });
  });

  it('has the default port, and may have an IPv6 host or a socket', () => {
    expect(parseMysqlUrl('mysql://me@[::1]/x')).toMatchObject({ host: '::1', port: 3306 });
    expect(describeAddress(parseMysqlUrl('mysql://me@[::1]/x'))).toBe('[::1]:3306');
    const local = parseMysqlUrl('mysql://me@localhost/x?socket=/run/mysqld.sock');
    expect(describeAddress(local)).toBe('/run/mysqld.sock');
  });

  it('can require TLS, verified or not, with its own authority', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'causeway-test-url-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'ca.pem'), 'an authority');
    const sslOf = (query: string) => parseMysqlUrl(`mysql://me@db/x?${query}`).ssl;
    expect(sslOf('tls=verify')).toEqual({ rejectUnauthorized: true, verifyIdentity: true });
    expect(sslOf('tls=verify-ca')).toEqual({ rejectUnauthorized: true, verifyIdentity: false });
    expect(sslOf('tls=encrypt')).toEqual({ rejectUnauthorized: false });
    expect(sslOf('tls=off')).toBeUndefined();
    expect(sslOf(`tls=verify&tlsCaFile=${folder}/ca.pem`)).toEqual({
      rejectUnauthorized: true,
      verifyIdentity: true,
      ca: 'an authority',
    });
    expect(() => sslOf('tls=maybe')).toThrow('tls must be verify, verify-ca, encrypt or off');
    expect(() => parseMysqlUrl('mysql://me@10.0.0.1/x?tls=verify')).toThrow('requires a host name');
  });

  it('is refused without revealing its password', () => {
    const wrong = ['pg://me:secret@db/x', 'me:secret@db', 'mysql://me:secret@db/x?multipleStatements=true'];
    for (const url of wrong) {
      expect(() => parseMysqlUrl(url)).toThrow(/MySQL URL/);
      expect(() => parseMysqlUrl(url)).not.toThrow(/secret/);
    }
  });
});
