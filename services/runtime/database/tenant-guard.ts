import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CompiledQuery, Kysely, KyselyPlugin, RootOperationNode } from 'kysely';
import { readEnv } from '../config.ts';
import type { Log } from '../log.ts';
import type { Database } from './connect.ts';
import { createTenantCheck } from './tenant-check.ts';
import type { Trx } from './transaction.ts';

/**
 * Refuses a query that does not name its tenant, before it leaves the process.
 *
 * Each tenant table in a select, update or delete needs a condition of its own on the tenant column: equal to a value,
 * or `in` a list of values (tuples too). The condition must be joined by `and` in the WHERE, or in the ON that joins
 * the table. A subquery needs the same. An insert must give the column a value in each row, and no update may change
 * it. The guard supports the query shapes that the services build and refuses all others; `tenant-check.ts` lists
 * them, and `tenant-raw.ts` has the rules for raw SQL.
 *
 * The guard finds mistakes. It is no defence against code that means harm, which could call `acrossTenants`.
 */
export const createTenantGuard = ({ tenantTables, tenantColumn, log }: TenantGuardOptions): TenantGuard => {
  const assertBound = createTenantCheck(tenantTables, tenantColumn);
  const checked = new WeakSet<RootOperationNode>();
  const unguarded = new Map<string, GuardPlugin>();
  const notes = openStatementNotes();

  const withoutCheck = (reason: string): KyselyPlugin => {
    const known = unguarded.get(reason);
    if (known) return known;
    log?.debug({ reason }, 'queries across tenants');
    const plugin = pluginFor(() => {}, reason);
    unguarded.set(reason, plugin);
    return plugin;
  };
  const pluginFor = (check: (node: RootOperationNode) => void, reason?: string): GuardPlugin => ({
    transformQuery: ({ node }) => {
      check(node);
      checked.add(node);
      notes?.made(node, reason);
      return node;
    },
    transformResult: async ({ result }) => result,
    withoutCheck,
  });
  return {
    plugin: pluginFor(assertBound),
    assertChecked: (query) => {
      if (!checked.has(query.query))
        throw new Error(`a query bypassed the tenant guard: ${query.sql.slice(0, 200)}`);
      notes?.sent(query);
    },
  };
};

interface TenantGuard {
  /** Checks a query once, when it is compiled, however often it runs. */
  readonly plugin: KyselyPlugin;
  /** The driver calls it. Throws for a query that was compiled without the plugin. */
  readonly assertChecked: (query: CompiledQuery) => void;
}

interface TenantGuardOptions {
  readonly tenantTables: ReadonlySet<string>;
  readonly tenantColumn: string;
  readonly log?: Log | undefined;
}

/**
 * Returns a handle without the guard, in the same transaction if there is one, for the few jobs that span tenants.
 * Each `reason` is logged once, at debug. (Overloaded because TypeScript cannot infer `DB` through an intersection.)
 */
export function acrossTenants<DB>(db: Database<DB>, reason: string): Kysely<DB>;
export function acrossTenants<DB>(db: Trx<DB>, reason: string): Kysely<DB>;
export function acrossTenants<DB>(db: Kysely<DB>, reason: string): Kysely<DB>;
export function acrossTenants<DB>(db: Kysely<DB>, reason: string): Kysely<DB> {
  const guard = db.getExecutor().plugins.find((plugin): plugin is GuardPlugin => 'withoutCheck' in plugin);
  if (guard === undefined) throw new Error('acrossTenants takes a handle that connectDatabase made');
  return db.withoutPlugins().withPlugin(guard.withoutCheck(reason));
}

interface GuardPlugin extends KyselyPlugin {
  withoutCheck(reason: string): KyselyPlugin;
}

/** Writes down which statements a service's code sends, for `deploy/vitess/statements`. */
interface StatementNotes {
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
const openStatementNotes = (): StatementNotes | undefined => {
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
