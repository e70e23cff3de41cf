import { parseMysqlUrl } from '@causeway/runtime';
import { type Connection, createConnection } from 'mysql2/promise';
import { everyPrivilege, type MysqlService, mysqlServices, privileges } from './privileges.ts';

/** A service's user, as administrators make it. */
export const userOf = (service: MysqlService, prefix = 'causeway'): string => `${prefix}_${service}`;

interface GrantOptions {
  /** The repository, or its copy in the image. */
  readonly root: string;
  readonly database: string;
  /** What the users' names begin with; `causeway` unless given. */
  readonly prefix?: string;
}

/**
 * The statements that leave each service's user with what it needs of the database's tables, whatever it had of them
 * before. Nothing is taken away for a moment and given back, so services may go on meanwhile.
 */
export const grantStatements = ({ root, database, prefix }: GrantOptions): readonly string[] => {
  const allowed = privileges(root);
  return mysqlServices.flatMap((service) => {
    const user = `'${userOf(service, prefix)}'@'%'`;
    return Object.entries(allowed[service]).flatMap(([table, may]) => {
      const on = `ON \`${database}\`.\`${table}\``;
      const mayNot = everyPrivilege.filter((one) => !may.includes(one));
      return [
        ...(may.length === 0 ? [] : [`GRANT ${may.join(', ')} ${on} TO ${user}`]),
        `REVOKE IF EXISTS ${mayNot.join(', ')} ${on} FROM ${user}`,
      ];
    });
  });
};

/**
 * Gives the services' users what they need of the tables as they are now. The user of the URL needs the same rights
 * itself, and to be allowed to give them on.
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

/** Makes the users where they are missing, and gives each its password; an administrator's work. */
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
