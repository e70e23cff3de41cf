import { errorType, type Tracer } from '../tracing/tracer.ts';
import type { MysqlAddress } from './url.ts';

export interface Statement {
  readonly sql: string;
  readonly values?: readonly unknown[];
}

export type Send = (statements: readonly Statement[]) => Promise<readonly unknown[]>;

/** A client span for each round trip. It holds no values and no error messages, which can repeat values. */
export const tracedSend = (
  tracer: Tracer,
  { host, port, database }: Pick<MysqlAddress, 'host' | 'port' | 'database'>,
  send: Send,
): Send => {
  const server = {
    'db.system.name': 'mysql',
    'db.namespace': database,
    'server.address': host,
    'server.port': port,
  };
  return async (statements) => {
    const parents = tracer.active();
    if (parents.length === 0) return send(statements);
    const text = statements.map(({ sql }) => sql).join('; ');
    const { operation, table, summary } = describeBatch(statements.map(({ sql }) => sql));
    const span = tracer.start(summary, {
      kind: 'client',
      parents,
      attributes: {
        ...server,
        'db.operation.name': operation,
        'db.operation.batch.size': statements.length > 1 ? statements.length : undefined,
        'db.collection.name': table,
        'db.query.summary': summary,
        'db.query.text': text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text,
      },
    });
    try {
      return await send(statements);
    } catch (error) {
      const { errno } = error as { readonly errno?: number };
      if (errno !== undefined) span?.set({ 'db.response.status_code': String(errno) });
      span?.fail(errorType(error));
      throw error;
    } finally {
      span?.end();
    }
  };
};

const maxTextLength = 1_000;

/** Such as `INSERT clients`: the verb and the first table. */
const describeStatement = (
  sql: string,
): { readonly operation: string; readonly table: string | undefined; readonly summary: string } => {
  const operation = (/[a-z]+/i.exec(sql)?.[0] ?? 'unknown').toUpperCase();
  const table = tableName.exec(sql)?.[1];
  const known = onTables.has(operation) ? table : undefined;
  return { operation, table: known, summary: known ? `${operation} ${known}` : operation };
};

const describeBatch = (texts: readonly string[]): ReturnType<typeof describeStatement> => {
  const all = texts.map(describeStatement);
  return all.length === 1
    ? all[0]!
    : { operation: 'BATCH', table: undefined, summary: all.map(({ summary }) => summary).join('; ') };
};

const tableName = /\b(?:from|into|update)\s+`?(\w+)/i;

const onTables: ReadonlySet<string> = new Set(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'REPLACE', 'WITH']);
