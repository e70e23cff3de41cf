import type { OperationNode } from 'kysely';

/** The tenant guard's view of the schema. Names are in lower case. */
export interface TenantRules {
  readonly tables: ReadonlySet<string>;
  readonly column: string;
  /** Finds a tenant table's name used as a table in SQL text; global, so that matches can be counted. */
  readonly tableInText: RegExp;
  /** Matches SQL text that ends in the tenant column and `in`. */
  readonly bindingInText: RegExp;
}

/** A query that does not bind its tenant. The message names the table and the fix. */
export class TenantGuardError extends Error {
  override readonly name = 'TenantGuardError';
}

export const rulesFor = (tenantTables: ReadonlySet<string>, tenantColumn: string): TenantRules => ({
  tables: new Set([...tenantTables].map((table) => table.toLowerCase())),
  column: tenantColumn.toLowerCase(),
  // A name that is not the qualifier of a column: `clients c`, but not `clients.email`.
  tableInText:
    tenantTables.size === 0
      ? /(?!)/g
      : new RegExp(`\\b(?:${[...tenantTables].map(escaped).join('|')})\\b(?!\`?\\s*\\.)`, 'gi'),
  bindingInText: new RegExp(`\\b${escaped(tenantColumn)}\`?\\s+in\\s*$`, 'i'),
});

/** Marks the node of `tenantIn`, so that the guard knows the list in raw SQL for what it is. */
export type TenantListNode = OperationNode & { readonly bindsTenant: true };

export const isTenantList = (node: OperationNode): node is TenantListNode => 'bindsTenant' in node;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
