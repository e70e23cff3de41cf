import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseMysqlUrl } from '@causeway/runtime';
import { createConnection } from 'mysql2/promise';
import { applyGrants, applyRevokes, makeUsers, userOf } from '../mysql/grants.ts';
import type { MysqlService } from '../mysql/privileges.ts';

/** Generated once per home and stored in it, readable by its owner only. */
type Secrets = (name: string) => string;

export const openSecrets = (home: string): Secrets => {
  const file = join(home, 'secrets.json');
  const secrets: Record<string, string> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  return (name) => {
    const value = secrets[name];
    if (value !== undefined) return value;
    const secret = randomBytes(24).toString('base64url');
    secrets[name] = secret;
    writeFileSync(`${file}.fresh`, JSON.stringify(secrets, undefined, 2), { mode: 0o600 });
    renameSync(`${file}.fresh`, file);
    return secret;
  };
};

/** Each service has its own MySQL user here too, with the same privileges as in production. */
interface MysqlUsers {
  make(adminUrl: string): Promise<void>;
  urlFor(service: MysqlService, adminUrl: string): string;
}

export const mysqlUsers = (root: string, secrets: Secrets): MysqlUsers => {
  const passwordOf = (service: MysqlService): string => secrets(`mysql ${service}`);
  return {
    make: async (adminUrl) => {
      const connection = await createConnection(parseMysqlUrl(adminUrl));
      try {
        await makeUsers(connection, passwordOf);
      } finally {
        await connection.end();
      }
      await applyGrants(adminUrl, root);
      await applyRevokes(adminUrl, root);
    },
    urlFor: (service, adminUrl) => {
      const url = new URL(adminUrl);
      url.username = userOf(service);
      url.password = passwordOf(service);
      return url.href;
    },
  };
};
