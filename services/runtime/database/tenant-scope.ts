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

/**
 * What a condition says of columns: those it sets equal to values, and those it sets equal to another
 * (`from` bound makes `to` bound).
 */
export interface Facts {
  readonly bound: Set<ColumnKey>;
  readonly edges: Map<string, { readonly from: ColumnKey; readonly to: ColumnKey }>;
}

export const columnKey = (alias: string, column: string): ColumnKey => `${alias}\0${column}`;

/** Reads a condition in the scope whose columns it names. Only `and`, `or`, `=` and `in` say anything. */
export const factsOf = (scope: Scope, column: string, condition: OperationNode): Facts => {
  const facts: Facts = { bound: new Set(), edges: new Map() };
  gather(facts, scope, column, condition);
  return facts;
};

/** Adds to `bound` everything that the edges lead to. */
export const close = ({ bound, edges }: Facts): void => {
  for (let grown = true; grown; ) {
    grown = false;
    for (const { from, to } of edges.values()) {
      if (!bound.has(from) || bound.has(to)) continue;
      bound.add(to);
      grown = true;
    }
  }
};

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

const gather = (facts: Facts, scope: Scope, column: string, condition: OperationNode): void => {
  const node = condition as Loose;
  const { left, right } = node;
  if (node.kind === 'ParensNode' && node.node) gather(facts, scope, column, node.node);
  else if (node.kind === 'BinaryOperationNode') gatherComparison(facts, scope, column, node);
  else if (node.kind === 'AndNode' && left && right) {
    gather(facts, scope, column, left);
    gather(facts, scope, column, right);
  } else if (node.kind === 'OrNode' && left && right) {
    gatherEither(facts, factsOf(scope, column, left), factsOf(scope, column, right));
  }
};

/** What holds on both sides of an `or`. */
const gatherEither = (facts: Facts, left: Facts, right: Facts): void => {
  close(left);
  close(right);
  for (const key of left.bound) if (right.bound.has(key)) facts.bound.add(key);
  for (const [name, edge] of left.edges) if (right.edges.has(name)) facts.edges.set(name, edge);
};

const gatherComparison = (facts: Facts, scope: Scope, column: string, node: Loose): void => {
  const operator = (node.operator as Loose).operator;
  const left = unwrap(node.leftOperand as OperationNode) as Loose;
  const right = unwrap(node.rightOperand as OperationNode) as Loose;
  if (left.kind === 'TupleNode') {
    if (operator === 'in') gatherTuples(facts, scope, column, left, right.values ?? []);
    if (operator === '=') gatherTuples(facts, scope, column, left, [right]);
    return;
  }
  const leftKey = resolve(scope, column, left);
  if (operator === 'in' && leftKey !== undefined && isValueList(right)) facts.bound.add(leftKey);
  if (operator !== '=') return;
  const rightKey = resolve(scope, column, right);
  if (leftKey !== undefined && rightKey !== undefined) addEquality(facts, leftKey, rightKey);
  else if (leftKey !== undefined && isValueNode(right)) facts.bound.add(leftKey);
  else if (rightKey !== undefined && isValueNode(left)) facts.bound.add(rightKey);
};

/** `(company_id, id) in ((1, 2), (3, 4))`. */
const gatherTuples = (
  facts: Facts,
  scope: Scope,
  column: string,
  left: Loose,
  rows: readonly OperationNode[],
): void => {
  const tuples = rows.map((row) => (unwrap(row) as Loose).values ?? []);
  for (const [at, item] of (left.values ?? []).entries()) {
    const key = resolve(scope, column, item);
    if (key === undefined || tuples.length === 0) continue;
    if (tuples.every((tuple) => tuple[at] && isValueNode(tuple[at]))) facts.bound.add(key);
  }
};

const addEquality = (facts: Facts, left: ColumnKey, right: ColumnKey): void => {
  facts.edges.set(`${left}\0=\0${right}`, { from: left, to: right });
  facts.edges.set(`${right}\0=\0${left}`, { from: right, to: left });
};

const isValueList = (node: Loose): boolean => {
  if (isTenantList(node)) return true;
  const values = node.values ?? [];
  if (values.length === 0) return false;
  if (node.kind === 'PrimitiveValueListNode') return values.every(isTenantValue);
  return node.kind === 'ValueListNode' && values.every(isValueNode);
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
