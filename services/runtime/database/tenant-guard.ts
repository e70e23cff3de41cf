import type { CompiledQuery, Kysely, KyselyPlugin, QueryExecutorProvider, RootOperationNode } from 'kysely';
import type { Log } from '../log.ts';
import type { Database, Trx } from './handle.ts';
import { createTenantCheck } from './tenant-check.ts';

/**
 * Refuses a query that does not name its tenant, before it leaves the process.
 * Each tenant table in a select, update or delete needs a condition on the tenant column, joined by `and` in
 * the WHERE or in the ON of its join: equal to a value, or `in` a list of values (tuples too). An insert must
 * give the column a value in each row, and no update may change it.
 * The guard finds mistakes. It is no defence against code that means harm, which could call `acrossTenants`.
 */
export const createTenantGuard = ({ tenantTables, log }: TenantGuardOptions): TenantGuard => {
  const assertBound = createTenantCheck(tenantTables, 'company_id');
  const checked = new WeakSet<RootOperationNode>();
  const unguarded = new Map<string, GuardPlugin>();

  const withoutCheck = (reason: string): KyselyPlugin => {
    const unguardedBefore = unguarded.get(reason);
    if (unguardedBefore) return unguardedBefore;
    log?.debug({ reason }, 'queries across tenants');
    const plugin = pluginFor(() => {});
    unguarded.set(reason, plugin);
    return plugin;
  };
  const pluginFor = (check: (node: RootOperationNode) => void): GuardPlugin => ({
    transformQuery: ({ node }) => {
      check(node);
      checked.add(node);
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
    },
  };
};

interface TenantGuard {
  readonly plugin: KyselyPlugin;
  readonly assertChecked: (query: CompiledQuery) => void;
}

interface TenantGuardOptions {
  readonly tenantTables: ReadonlySet<string>;
  readonly log?: Log | undefined;
}

/** A handle without the guard. (Overloaded because TypeScript cannot infer `DB` through an intersection.) */
export function acrossTenants<DB>(db: Database<DB>, reason: string): Kysely<DB>;
export function acrossTenants<DB>(db: Trx<DB>, reason: string): Kysely<DB>;
export function acrossTenants<DB>(db: Kysely<DB>, reason: string): Kysely<DB>;
export function acrossTenants<DB>(db: Kysely<DB>, reason: string): Kysely<DB> {
  return db.withoutPlugins().withPlugin(guardOf(db).withoutCheck(reason));
}

export const guardOf = (db: QueryExecutorProvider): GuardPlugin => {
  const guard = db.getExecutor().plugins.find((plugin): plugin is GuardPlugin => 'withoutCheck' in plugin);
  if (guard === undefined) throw new Error('this takes a handle that connectDatabase made');
  return guard;
};

interface GuardPlugin extends KyselyPlugin {
  withoutCheck(reason: string): KyselyPlugin;
}
