import { parseMysqlUrl } from '@causeway/runtime';
import { type Connection, createConnection } from 'mysql2/promise';
import { everyPrivilege, type MysqlService, mysqlServices, privileges } from './privileges.ts';

export const userOf = (service: MysqlService, prefix = 'causeway'): string => `${prefix}_${service}`;

interface GrantOptions {
  readonly root: string;
  readonly database: string;
  readonly prefix?: string;
}

/** They take nothing away, so the release before keeps working. */
export const grantStatements = (options: GrantOptions): readonly string[] =>
  perTable(options).flatMap(({ user, on, may }) =>
    may.length === 0 ? [] : [`GRANT ${may.join(', ')} ${on} TO ${user}`],
  );

export const revokeStatements = (options: GrantOptions): readonly string[] =>
  perTable(options).map(({ user, on, may }) => {
    const mayNot = everyPrivilege.filter((one) => !may.includes(one));
    return `REVOKE IF EXISTS ${mayNot.join(', ')} ${on} FROM ${user}`;
  });

const perTable = ({ root, database, prefix }: GrantOptions) => {
  const allowed = privileges(root);
  return mysqlServices.flatMap((service) =>
    Object.entries(allowed[service]).map(([table, may]) => ({
      user: `'${userOf(service, prefix)}'@'%'`,
      on: `ON \`${database}\`.\`${table}\``,
      may,
    })),
  );
};

/** The URL's user needs the same privileges with grant option. */
export const applyGrants = (mysqlUrl: string, root: string, prefix?: string): Promise<void> =>
  apply(mysqlUrl, root, prefix, grantStatements);

export const applyRevokes = (mysqlUrl: string, root: string, prefix?: string): Promise<void> =>
  apply(mysqlUrl, root, prefix, revokeStatements);

const apply = async (
  mysqlUrl: string,
  root: string,
  prefix: string | undefined,
  statements: typeof grantStatements,
): Promise<void> => {
  const address = parseMysqlUrl(mysqlUrl);
  const connection = await createConnection(address);
  try {
    const options = { root, database: address.database, ...(prefix === undefined ? {} : { prefix }) };
    for (const statement of statements(options)) await connection.query(statement);
  } finally {
    await connection.end().catch(() => connection.destroy());
  }
};

export const makeUsers = async (
  connection: Connection,
  passwordOf: (service: MysqlService) => string,
  prefix?: string,
): Promise<void> => {
  for (const service of mysqlServices) {
    const user = userOf(service, prefix);
    await connection.query("CREATE USER IF NOT EXISTS ?@'%'", [user]);
    await connection.query("ALTER USER ?@'%' IDENTIFIED BY ?", [user, passwordOf(service)]);
  }
};
