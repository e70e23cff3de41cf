import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CompiledQuery, RootOperationNode } from 'kysely';
import { readEnv } from '../config.ts';

/** Writes down which statements a service's code sends, for `deploy/vitess/statements`. */
export interface StatementNotes {
  /** Called where a query is compiled, which is in the stack of the code that sends it. */
  made(node: RootOperationNode, reason: string | undefined): void;
  sent(query: CompiledQuery): void;
}

/** A line of the notes. */
export interface NotedStatement {
  /** With a placeholder for each value; a list has one value, and a list of rows has one row. */
  readonly sql: string;
  /** Why it may concern several companies (`acrossTenants`). */
  readonly reason?: string | undefined;
  /** The file of the code that sends it. */
  readonly file?: string | undefined;
}

/**
 * Notes each statement once per process in a file of the folder that `STATEMENT_NOTES` names; undefined without one, as
 * everywhere but in the tests. Statements of the tests themselves do not count.
 */
export const openStatementNotes = (): StatementNotes | undefined => {
  const folder = readEnv().STATEMENT_NOTES;
  if (!folder) return undefined;
  const senders = new WeakMap<RootOperationNode, Pick<NotedStatement, 'reason' | 'file'>>();
  const noted = new Set<string>();
  return {
    made: (node, reason) => {
      const file = callerOutside();
      if (file === undefined || isOfService(file)) senders.set(node, { reason, file });
    },
    sent: ({ query, sql, parameters }) => {
      const sender = senders.get(query);
      if (!sender) return;
      const note: NotedStatement = { sql: withLists(sql, parameters), ...sender };
      const line = `${JSON.stringify(note)}\n`;
      if (noted.has(line)) return;
      noted.add(line);
      mkdirSync(folder, { recursive: true });
      appendFileSync(join(folder, `${process.pid}.jsonl`), line);
    },
  };
};

/** The file of the first caller that does not belong to this folder; undefined if the stack has only this folder's. */
const callerOutside = (): string | undefined => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 100;
  const { stack = '' } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return [...stack.matchAll(/\/(?!\/)[^\s():]+\.ts/g)]
    .map(([file]) => file)
    .find((file) => !file.includes('/services/runtime/database/') || isTest.test(file));
};

const isOfService = (file: string): boolean => file.includes('/services/') && !isTest.test(file);

const isTest = /\.test\.ts$|\/testing\//;

/** Writes the first row in the place of a list (`rowList`). */
const withLists = (sql: string, parameters: readonly unknown[]): string => {
  let at = 0;
  return sql.replace(placeholder, (text) => (text === '?' ? shapeOf(parameters[at++]) : text));
};

const shapeOf = (value: unknown): string => {
  if (!Array.isArray(value)) return '?';
  return Array.isArray(value[0]) ? `(${value[0].map(() => '?').join(', ')})` : '?';
};

/** Or a text in quotes, which may contain a question mark. */
const placeholder = /'(?:[^'\\]|\\.|'')*'|`[^`]*`|\?/g;
