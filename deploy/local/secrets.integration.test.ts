import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { cleanUp, testDatabase } from '@causeway/runtime/testing';
import { createConnection } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { migrationFolders } from '../migrate/config.ts';
import { mysqlUsers, openSecrets } from './secrets.ts';

const root = resolve(import.meta.dirname, '../..');

test('the users of the services are made anew when one is missing, has another password, or was left halfway', async () => {
  const database = await testDatabase({ folders: migrationFolders(root) });
  const admin = await createConnection(database.url);
  cleanUp(async () => {
    for (const name of ['access', 'crm', 'webhooks', 'dispatcher'])
      await admin.query("DROP USER IF EXISTS ?@'%'", [`causeway_${name}`]);
    await admin.end();
  });
  const usersOf = () => mysqlUsers(root, openSecrets(mkdtempSync(join(tmpdir(), 'causeway-secrets-'))));
  const reads = async (users: ReturnType<typeof usersOf>): Promise<void> => {
    const connection = await createConnection(users.urlFor('crm', database.url));
    await connection.query('SELECT 1 FROM clients LIMIT 1').finally(() => connection.end());
  };

  const users = usersOf();
  await users.make(database.url);
  await reads(users);

  await admin.query("DROP USER causeway_crm@'%'");
  await users.make(database.url);
  await reads(users);

  const others = usersOf();
  await others.make(database.url);
  await reads(others);
  await expect(reads(users)).rejects.toThrow('Access denied');

  // A start that stopped halfway leaves no mark, so the next one makes the users again.
  const half = usersOf();
  await admin.query('RENAME TABLE request_minutes TO away');
  await expect(half.make(database.url)).rejects.toThrow('request_minutes');
  await admin.query('RENAME TABLE away TO request_minutes');
  await others.make(database.url);
  await reads(others);
});
