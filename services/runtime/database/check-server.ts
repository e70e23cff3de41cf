import { ConfigError } from '../config.ts';

interface CheckOptions {
  /** Runs a statement. @returns its rows */
  readonly read: (statement: string) => Promise<readonly object[]>;
  /** A database that does not exist yet gets the right collation. */
  readonly hasDatabase?: boolean;
}

/**
 * Checks the settings of the server that no session can set; `session.ts` sets the others.
 * @throws ConfigError with a sentence for each wrong setting, which says what to set.
 */
export const checkMysql = async ({ read, hasDatabase = true }: CheckOptions): Promise<void> => {
  const rows = (await read(`SHOW VARIABLES WHERE Variable_name IN (${names})`)) as readonly Variable[];
  const values = new Map(rows.map((row) => [row.Variable_name.toLowerCase(), row.Value]));
  const wrong = rules.flatMap(({ name, unless, isRight, repair }) => {
    const value = values.get(name);
    if (value === undefined || isRight(value) || unless?.(values)) return [];
    return name === 'collation_database' && !hasDatabase ? [] : [problemOf(name, value, repair)];
  });
  if (hasDatabase) wrong.push(...(await wrongColumns(read)));
  if (wrong.length > 0) throw new ConfigError(wrong.join('\n'));
};

interface Variable {
  readonly Variable_name: string;
  readonly Value: string;
}

interface Rule {
  readonly name: string;
  readonly isRight: (value: string) => boolean;
  readonly unless?: (values: ReadonlyMap<string, string>) => boolean;
  readonly repair: string;
}

const collation = 'utf8mb4_0900_ai_ci';
const is =
  (wanted: string) =>
  (value: string): boolean =>
    value.toLowerCase() === wanted;
const atLeast =
  (least: number) =>
  (value: string): boolean =>
    Number(value) >= least;

const isNewEnough = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return !/mariadb/i.test(version) && (major > 8 || (major === 8 && minor >= 4));
};

const rules: readonly Rule[] = [
  { name: 'version', isRight: isNewEnough, repair: 'use MySQL 8.4 or newer' },
  {
    name: 'collation_database',
    isRight: is(collation),
    repair: `run ALTER DATABASE … CHARACTER SET utf8mb4 COLLATE ${collation}`,
  },
  {
    name: 'default_collation_for_utf8mb4',
    isRight: is(collation),
    repair: `set default_collation_for_utf8mb4=${collation}`,
  },
  { name: 'max_allowed_packet', isRight: atLeast(64 * 2 ** 20), repair: 'set max_allowed_packet=64M' },
  {
    name: 'binlog_format',
    isRight: (value) => !is('statement')(value),
    unless: (values) => values.get('log_bin') === 'OFF',
    repair: 'set binlog_format=ROW',
  },
  { name: 'innodb_page_size', isRight: atLeast(16_384), repair: 'make a server with innodb_page_size=16K' },
  {
    name: 'innodb_default_row_format',
    isRight: is('dynamic'),
    repair: 'set innodb_default_row_format=DYNAMIC',
  },
];

const names = [...rules.map(({ name }) => name), 'log_bin'].map((name) => `'${name}'`).join(', ');

const problemOf = (name: string, value: string, repair: string): string =>
  `MYSQL_URL: the server's ${name} is ${value}: ${repair}`;

/** Tables that were made while the database had another character set keep it. A service sees those that it may use. */
const wrongColumns = async (read: CheckOptions['read']): Promise<readonly string[]> => {
  const [found] = (await read(
    `SELECT TABLE_NAME AS 'table', CHARACTER_SET_NAME AS 'charset' FROM information_schema.COLUMNS
     WHERE TABLE_SCHEMA = DATABASE() AND CHARACTER_SET_NAME NOT IN ('utf8mb4', 'ascii') LIMIT 1`,
  )) as readonly { readonly table: string; readonly charset: string }[];
  return found
    ? [
        `MYSQL_URL: the table ${found.table} has columns in ${found.charset}: change them to utf8mb4, or use an empty database`,
      ]
    : [];
};
