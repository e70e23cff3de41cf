import { parseMysqlUrl } from '@causeway/runtime';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { withValues } from './normalize.ts';

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
