import { parseMysqlUrl } from '@causeway/runtime';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';

/**
 * Asks vtgate how it runs each statement: the operators of its plan, the outermost first, or `REFUSED` with its message.
 * @param url of a vtgate with both keyspaces, whose tables have no daily partitions yet.
 */
export const explain = async (
  url: string,
  statements: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const connection = await createConnection(parseMysqlUrl(url));
  try {
    const verdicts = new Map<string, string>();
    // A partition is made before it is dropped: REORGANIZE sorts after DROP.
    for (const statement of [...statements].sort().reverse())
      verdicts.set(statement, await verdictOf(connection, statement));
    return verdicts;
  } finally {
    await connection.end();
  }
};

const verdictOf = async (connection: Connection, statement: string): Promise<string> => {
  const sql = withValues(statement);
  try {
    // vtgate does not explain these: each is run. It sends ALTER TABLE to every shard as it is.
    const known = unexplained[sql.split(' ')[0]!];
    if (known) {
      await connection.query(sql);
      return known;
    }
    const [[row]] = await connection.query<RowDataPacket[]>(`VEXPLAIN PLAN ${sql}`);
    return describe(JSON.parse(Object.values(row!)[0]));
  } catch (error) {
    return `REFUSED ${(error as Error).message.replace(/\s+/g, ' ').slice(0, 300)}`;
  }
};

const unexplained: Readonly<Record<string, string>> = { ALTER: 'DDL', SET: 'Set', SHOW: 'Show' };

interface Operator {
  readonly OperatorType: string;
  readonly Variant?: string;
  readonly Inputs?: readonly Operator[];
}

const describe = ({ OperatorType, Variant, Inputs = [] }: Operator): string =>
  [`${OperatorType}${Variant ? `:${Variant}` : ''}`, ...Inputs.map(describe)].join(' > ');

/**
 * A statement as the list has it: with a placeholder for each value, and one value or row for lists of any length. So it is
 * the same in every run.
 */
export const normalize = (sql: string): string => {
  let text = sql
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\( /g, '(')
    .replace(/ (?=[),])/g, '');
  text = text
    // The days of partitions.
    .replace(/`p\d{8}`/g, '`p20260101`')
    .replace(/'\d{4}-\d\d-\d\d[^']*'/g, "'2026-01-02'")
    // Numbers that depend on the call.
    .replace(/\blimit \d+/gi, (found) => found.replace(/\d+/, '?'))
    .replace(/\/ \d+\)/g, '/ ?)')
    .replace(/LAST_INSERT_ID\(\) \+ \d+/g, 'LAST_INSERT_ID() + ?')
    // Rows that leave out different optional columns.
    .replace(/(?<=[(,] ?)default(?=[,)])/g, '?')
    // `in (?, ?, ?)`
    .replace(/\bin \(\?(?:, \?)+\)/gi, (found) => `${found.slice(0, 2)} (?)`);
  // `(?, ?), (?, ?)`
  text = repeated(text, /(\((?:[^()]|\([^()]*\))*\))(?:, ?\1)+/g, '$1');
  text = repeated(text, /(PARTITION `p20260101` VALUES LESS THAN \('2026-01-02'\))(?:, \1)+/g, '$1');
  // Two are as good as many, but not as one.
  return repeated(
    text,
    /(\(SELECT (?:[^()]|\([^()]*\))*\)) UNION ALL \1(?: UNION ALL \1)+/gi,
    '$1 UNION ALL $1',
  );
};

const repeated = (text: string, pattern: RegExp, by: string): string => {
  const shorter = text.replace(pattern, by);
  return shorter === text ? text : repeated(shorter, pattern, by);
};

/**
 * The same statement with a value in each place, as the planner reads it. Parts of a UNION have values of their own, because
 * they concern different companies.
 */
export const withValues = (statement: string): string =>
  statement
    .split(' UNION ALL ')
    .map((part, at) =>
      part.replace(/'(?:[^'\\]|\\.|'')*'|`[^`]*`|\?/g, (text) => (text === '?' ? `${at + 1}` : text)),
    )
    .join(' UNION ALL ');
