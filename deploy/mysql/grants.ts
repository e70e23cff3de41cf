import { parseMysqlUrl } from '@causeway/runtime';
import { type Connection, createConnection } from 'mysql2/promise';
import { everyPrivilege, former, type MysqlService, mysqlServices, privileges } from './privileges.ts';

/** The name of a service's user. */
export const userOf = (service: MysqlService, prefix = 'causeway'): string => `${prefix}_${service}`;

interface GrantOptions {
  /** The repository, or its copy in the image. */
  readonly root: string;
  readonly database: string;
  /** The prefix of the users' names; `causeway` by default. */
  readonly prefix?: string;
}

/**
 * The statements that give each service's user exactly the privileges it needs, whatever it had before, except that
 * they leave those that the release before needs (`former`). They never revoke a needed privilege in between, so
 * services may keep running.
 */
export const grantStatements = ({ root, database, prefix }: GrantOptions): readonly string[] => {
  const allowed = privileges(root);
  return mysqlServices.flatMap((service) => {
    const user = `'${userOf(service, prefix)}'@'%'`;
    return Object.entries(allowed[service]).flatMap(([table, may]) => {
      const on = `ON \`${database}\`.\`${table}\``;
      const kept = [...may, ...(former[service]?.[table] ?? [])];
      const mayNot = everyPrivilege.filter((one) => !kept.includes(one));
      return [
        ...(may.length === 0 ? [] : [`GRANT ${may.join(', ')} ${on} TO ${user}`]),
        `REVOKE IF EXISTS ${mayNot.join(', ')} ${on} FROM ${user}`,
      ];
    });
  });
};

/**
 * Grants the services' users their privileges on the current tables. The URL's user needs the same privileges with
 * grant option.
 */
export const applyGrants = async (mysqlUrl: string, root: string, prefix?: string): Promise<void> => {
  const address = parseMysqlUrl(mysqlUrl);
  const connection = await createConnection(address);
  try {
    const options = { root, database: address.database, ...(prefix === undefined ? {} : { prefix }) };
    for (const statement of grantStatements(options)) await connection.query(statement);
  } finally {
    await connection.end().catch(() => connection.destroy());
  }
};

/** Creates missing users and sets each password; requires an administrator. */
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
