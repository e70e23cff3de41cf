import {
  type CompiledQuery,
  type Expression,
  type Kysely,
  type KyselyPlugin,
  type RawBuilder,
  type RootOperationNode,
  sql,
} from 'kysely';
import type { Log } from '../log.ts';
import type { Database } from './connect.ts';
import { assertBound } from './tenant-check.ts';
import { rulesFor, type TenantListNode } from './tenant-rules.ts';
import type { Trx } from './transaction.ts';

export { TenantGuardError } from './tenant-rules.ts';

/**
 * Rejects a query on a tenant table that does not name its tenant, before it leaves the process.
 *
 * A select, update or delete must bind the tenant column of every tenant table it names, in each subquery, join,
 * union and common table expression: equal to a value, `in` a list of values (tuples too), or equal to the same
 * column of a table that is bound. In an `or` each side must bind it. The condition must restrict the table's own
 * rows: one in the ON of a left join binds the joined table only. An insert must give the column a value in each row,
 * and no update may change it.
 *
 * Raw SQL is text to the guard, so it proves nothing: a fragment may not hold an `or` outside of parentheses (it
 * would undo the conditions beside it) nor a comment, and where it names a tenant table as a table it must say
 * `company_id in ${tenantIn(ids)}` once for each. The guard catches mistakes, not malice: an author of queries can
 * also call `acrossTenants`.
 *
 * `executeQuery` accepts only queries that a guarded handle has compiled. A compiled query is checked once, even if
 * it runs often.
 */
export const createTenantGuard = ({ tenantTables, tenantColumn, log }: TenantGuardOptions): TenantGuard => {
  const rules = rulesFor(tenantTables, tenantColumn);
  const checked = new WeakSet<RootOperationNode>();
  const reasons = new Set<string>();

  const released = (reason: string): KyselyPlugin => {
    if (!reasons.has(reason)) log?.debug({ reason }, 'queries across tenants');
    reasons.add(reason);
    return releasing;
  };
  const pluginThat = (check: (node: RootOperationNode) => void): GuardPlugin => ({
    transformQuery: ({ node }) => {
      check(node);
      checked.add(node);
      return node;
    },
    transformResult: async ({ result }) => result,
    released,
  });
  const plugin = pluginThat((node) => assertBound(rules, node));
  const releasing = pluginThat(() => {});
  return {
    plugin,
    assertChecked: ({ query, sql: text }) => {
      if (!checked.has(query)) throw new Error(`a query bypassed the tenant guard: ${text.slice(0, 200)}`);
    },
  };
};

export interface TenantGuard {
  readonly plugin: KyselyPlugin;
  /** Called by the driver. Throws at a query that no handle of this database has compiled. */
  readonly assertChecked: (query: CompiledQuery) => void;
}

export interface TenantGuardOptions {
  readonly tenantTables: ReadonlySet<string>;
  readonly tenantColumn: string;
  readonly log?: Log | undefined;
}

/**
 * Returns a handle without the guard, in the same transaction if there is one, for the few jobs that span tenants.
 * Each `reason` is logged once, at debug. (Overloaded because the tables' type is not inferred through an
 * intersection.)
 */
export function acrossTenants<DB>(db: Database<DB>, reason: string): Kysely<DB>;
export function acrossTenants<DB>(db: Trx<DB>, reason: string): Kysely<DB>;
export function acrossTenants<DB>(db: Kysely<DB>, reason: string): Kysely<DB>;
export function acrossTenants<DB>(db: Kysely<DB>, reason: string): Kysely<DB> {
  const guard = db.getExecutor().plugins.find((plugin): plugin is GuardPlugin => 'released' in plugin);
  if (guard === undefined) throw new Error('acrossTenants takes a handle that connectDatabase made');
  return db.withoutPlugins().withPlugin(guard.released(reason));
}

/** For raw SQL: `` sql`… where c.company_id in ${tenantIn(ids)}` ``, written as `(1, 2, 3)`. */
export const tenantIn = (ids: TenantId | readonly TenantId[]): Expression<unknown> => {
  const list = typeof ids === 'object' ? ids : [ids];
  if (list.length === 0) throw new Error('tenantIn needs at least one id');
  const builder: RawBuilder<unknown> = sql`(${sql.join(list)})`;
  const node: TenantListNode = { ...builder.toOperationNode(), bindsTenant: true };
  return { expressionType: undefined, toOperationNode: () => node };
};

export type TenantId = number | bigint | string;

interface GuardPlugin extends KyselyPlugin {
  released(reason: string): KyselyPlugin;
}
