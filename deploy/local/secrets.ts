import { hash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseMysqlUrl } from '@causeway/runtime';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { grantStatements, makeUsers, revokeStatements, userOf } from '../mysql/grants.ts';
import { type MysqlService, mysqlServices } from '../mysql/privileges.ts';

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
      const address = parseMysqlUrl(adminUrl);
      const options = { root, database: address.database };
      const statements = [...grantStatements(options), ...revokeStatements(options)];
      const connection = await createConnection(address);
      try {
        // Each of the statements is a commit of its own: all take a third of a second. A start that changes none sends none.
        const state = hash('sha256', JSON.stringify([statements, mysqlServices.map(passwordOf)]));
        if (await areMarked(connection, state)) return;
        // If this start is killed halfway, a mark of another state would be untrue.
        await mark(connection, null);
        await makeUsers(connection, passwordOf);
        for (const statement of statements) await connection.query(statement);
        await mark(connection, state);
      } finally {
        await connection.end();
      }
    },
    urlFor: (service, adminUrl) => {
      const url = new URL(adminUrl);
      url.username = userOf(service);
      url.password = passwordOf(service);
      return url.href;
    },
  };
};

/** The mark stands in the server's data, with the users, so it goes with them. */
const mark = async (connection: Connection, state: string | null): Promise<void> => {
  for (const user of users)
    await connection.query("ALTER USER IF EXISTS ?@'%' ATTRIBUTE ?", [user, JSON.stringify({ state })]);
};

const areMarked = async (connection: Connection, state: string): Promise<boolean> => {
  const [rows] = await connection.query<RowDataPacket[]>(
    "SELECT 1 FROM information_schema.user_attributes WHERE user IN (?) AND attribute->>'$.state' = ?",
    [users, state],
  );
  return rows.length === users.length;
};

const users = mysqlServices.map((service) => userOf(service));
