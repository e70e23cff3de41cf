import type { OperationNode } from 'kysely';
import { isTenantList } from './tenant-rules.ts';

/** A table, or what stands for one, under the name that the query's conditions call it by. */
export interface Source {
  /** `derived` is a subquery or a common table expression; `plain` is what no rule is about. */
  readonly kind: 'tenant' | 'derived' | 'plain';
  /** A derived source whose tenant column holds only values that were bound inside. */
  readonly exposes: boolean;
}

/** The sources of one SELECT, UPDATE or DELETE, and which of their columns are bound. */
export interface Scope {
  readonly sources: Map<string, Source>;
  readonly outer: Scope | undefined;
  readonly bound: Set<ColumnKey>;
}

/** `alias NUL column`, in lower case. */
export type ColumnKey = string;

export const columnKey = (alias: string, column: string): ColumnKey => `${alias}\0${column}`;

/**
 * A column's key in this scope; `always` for a column of an outer query that is bound there; undefined for
 * anything that is not a column whose source is known.
 */
export const resolve = (scope: Scope, tenantColumn: string, node: OperationNode): ColumnKey | undefined => {
  const { table, column } = columnOf(unwrap(node)) ?? {};
  if (column === undefined) return undefined;
  if (table === undefined) {
    const alias = soleOwner(scope, column === tenantColumn);
    return alias === undefined ? undefined : columnKey(alias, column);
  }
  const key = columnKey(table, column);
  if (scope.sources.has(table)) return key;
  for (let outer = scope.outer; outer; outer = outer.outer) {
    if (outer.sources.has(table)) return outer.bound.has(key) ? always : undefined;
  }
  return undefined;
};

/** Whether a key is of this source. */
export const isOf = (alias: string, key: ColumnKey): boolean => key.startsWith(`${alias}\0`);

/** The key of what is bound by an outer query. */
export const always: ColumnKey = '';

/** A value that can be a tenant's id; null, true and undefined cannot, and an object least of all. */
export const isTenantValue = (value: unknown): boolean =>
  typeof value === 'number' ||
  typeof value === 'bigint' ||
  (typeof value === 'string' && value !== '') ||
  Buffer.isBuffer(value);

export const isValueNode = (node: OperationNode): boolean => {
  const inner = unwrap(node);
  return inner.kind === 'ValueNode' && isTenantValue((inner as Loose).value);
};

/** Takes off parentheses, and raw SQL that holds nothing but another node. */
export const unwrap = (node: OperationNode): OperationNode => {
  const { kind, node: inner, sqlFragments, parameters } = node as Loose;
  if (kind === 'ParensNode' && inner) return unwrap(inner);
  if (kind !== 'RawNode' || isTenantList(node)) return node;
  const only = parameters?.length === 1 ? parameters[0] : undefined;
  return only && sqlFragments?.every((text) => text === '') ? unwrap(only) : node;
};

export const columnOf = (node: OperationNode): { table?: string; column: string } | undefined => {
  const { kind, column, table } = node as Loose;
  if (kind === 'ColumnNode') return { column: nameOf((node as Loose).column) };
  if (kind !== 'ReferenceNode' || column?.kind !== 'ColumnNode') return undefined;
  const name = nameOf((column as Loose).column);
  return table ? { table: tableNameOf(table).name, column: name } : { column: name };
};

export const nameOf = (node: OperationNode | undefined): string =>
  ((node as Loose)?.name ?? '').toLowerCase();

export const tableNameOf = (node: OperationNode): { name: string; inSchema: boolean } => {
  const table = (node as Loose).table as Loose;
  return { name: nameOf(table.identifier), inSchema: table.schema !== undefined };
};

/** A FROM item's own node and the name that conditions call it by. */
export const named = (item: OperationNode): { readonly alias: string; readonly node: OperationNode } => {
  if (item.kind !== 'AliasNode') {
    const node = unwrap(item);
    return { node, alias: node.kind === 'TableNode' ? tableNameOf(node).name : '' };
  }
  const { alias, node } = item as OperationNode & { alias: OperationNode; node: OperationNode };
  const written = alias.kind === 'RawNode' ? (alias as Loose).sqlFragments?.[0] : undefined;
  return { node: unwrap(node), alias: written?.match(/^\W*(\w+)/)?.[1]?.toLowerCase() ?? nameOf(alias) };
};

/** Whose column an unqualified name is: the only source's, or the tenant column of the only tenant table. */
const soleOwner = (scope: Scope, isTenantColumn: boolean): string | undefined => {
  let owner: string | undefined;
  for (const [alias, { kind }] of scope.sources) {
    if (scope.sources.size > 1 && !(isTenantColumn && kind === 'tenant')) continue;
    if (owner !== undefined) return undefined;
    owner = alias;
  }
  return owner;
};

/** The fields of all the nodes that are read here, as their union is what the tree holds. */
export interface Loose extends OperationNode {
  readonly node?: OperationNode;
  readonly left?: OperationNode;
  readonly right?: OperationNode;
  readonly leftOperand?: OperationNode;
  readonly operator?: OperationNode | string;
  readonly rightOperand?: OperationNode;
  readonly value?: unknown;
  readonly values?: readonly OperationNode[];
  readonly column?: OperationNode;
  readonly table?: OperationNode;
  readonly schema?: OperationNode;
  readonly identifier?: OperationNode;
  readonly name?: string;
  readonly sqlFragments?: readonly string[];
  readonly parameters?: readonly OperationNode[];
}
