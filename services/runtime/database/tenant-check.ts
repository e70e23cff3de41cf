import type {
  DeleteQueryNode,
  InsertQueryNode,
  JoinNode,
  OperationNode,
  SelectQueryNode,
  UpdateQueryNode,
  WithNode,
} from 'kysely';
import { addFacts, close, type Facts, factsOf } from './tenant-facts.ts';
import { boundAt, exposesColumn, type Output, outputOf, unionOf } from './tenant-outputs.ts';
import { assertRaw } from './tenant-raw.ts';
import { TenantGuardError, type TenantRules } from './tenant-rules.ts';
import {
  always,
  columnKey,
  columnOf,
  isTenantValue,
  isValueNode,
  type Loose,
  named,
  nameOf,
  type Scope,
  type Source,
  tableNameOf,
  unwrap,
} from './tenant-scope.ts';

/** Walks a whole query, the rules in `createTenantGuard`. @throws TenantGuardError */
export const assertBound = (rules: TenantRules, node: OperationNode): void => {
  if (rules.tables.size === 0) return;
  const context: Context = { rules, outer: undefined, ctes: new Map() };
  switch (node.kind) {
    case 'SelectQueryNode':
    case 'InsertQueryNode':
    case 'UpdateQueryNode':
    case 'DeleteQueryNode':
      checkQuery(context, node);
      break;
    case 'RawNode':
      checkRaw(context, node, true);
      break;
    default:
      throw new TenantGuardError(`${node.kind}: schema changes belong in a migration`);
  }
};

interface Context {
  readonly rules: TenantRules;
  /** The enclosing query, whose columns this one may name. */
  readonly outer: Scope | undefined;
  /** Common table expressions in sight: whether each exposes a bound tenant column. */
  readonly ctes: ReadonlyMap<string, boolean>;
}

const checkQuery = (context: Context, node: OperationNode): readonly Output[] => {
  switch (node.kind) {
    case 'SelectQueryNode':
      return checkSelect(context, node as SelectQueryNode);
    case 'InsertQueryNode':
      checkInsert(context, node as InsertQueryNode);
      return [];
    case 'UpdateQueryNode':
      checkUpdate(context, node as UpdateQueryNode);
      return [];
    case 'DeleteQueryNode':
      checkDelete(context, node as DeleteQueryNode);
      return [];
    default:
      visit(context, node);
      return [];
  }
};

const checkSelect = (
  around: Context,
  node: SelectQueryNode,
  afterBase?: (outputs: readonly Output[]) => void,
): readonly Output[] => {
  const context = withCtes(around, node.with);
  const { from, joins, where, selections = [], setOperations = [], with: _, ...rest } = node;
  const scope = checkScope(context, 'select', { tables: from?.froms ?? [], joins, where: where?.where });
  const inside = { ...context, outer: scope };
  for (const selection of selections) visit(inside, selection);
  for (const part of Object.values(rest)) visitAny(inside, part);
  let outputs: readonly Output[] = selections.map((one) => outputOf(context.rules, scope, one));
  afterBase?.(outputs);
  for (const { expression } of setOperations) {
    outputs = unionOf(outputs, checkQuery(context, unwrap(expression)));
  }
  return outputs;
};

const checkUpdate = (around: Context, node: UpdateQueryNode): void => {
  const context = withCtes(around, node.with);
  const { table, from, joins, where, updates = [], with: _, ...rest } = node;
  const tables = [...(table ? [table] : []), ...(from?.froms ?? [])];
  const scope = checkScope(context, 'update', { tables, joins, where: where?.where });
  const touchesTenant = [...scope.sources.values()].some(({ kind }) => kind === 'tenant');
  if (touchesTenant) assertUnmoved(context.rules, updates);
  for (const part of [...updates, ...Object.values(rest)]) visitAny({ ...context, outer: scope }, part);
};

const checkDelete = (around: Context, node: DeleteQueryNode): void => {
  const context = withCtes(around, node.with);
  const { from, using, joins, where, with: _, ...rest } = node;
  // In `delete from a using a inner join b` the first list only names the tables of the second that lose rows.
  const tables = using ? using.tables : from.froms;
  const scope = checkScope(context, 'delete', { tables, joins, where: where?.where });
  for (const target of from.froms) {
    const { alias } = named(target);
    if (scope.sources.has(alias)) continue;
    throw new TenantGuardError(`delete from ${alias}, which using does not name`);
  }
  for (const part of Object.values(rest)) visitAny({ ...context, outer: scope }, part);
};

const checkInsert = (around: Context, node: InsertQueryNode): void => {
  const context = withCtes(around, node.with);
  const { rules } = context;
  const { into, columns = [], values, onDuplicateKey, with: _, ...rest } = node;
  const table = into ? tableNameOf(into).name : '';
  const outputs = values?.kind === 'SelectQueryNode' ? checkQuery(context, values) : undefined;
  if (outputs === undefined) visitAny(context, values);
  for (const part of [onDuplicateKey, ...Object.values(rest)]) visitAny(context, part);
  if (!rules.tables.has(table)) return;

  const at = columns.findIndex((column) => nameOf(column.column) === rules.column);
  if (at === -1) throw new TenantGuardError(`insert into ${table} does not give ${rules.column}`);
  const rows = values?.kind === 'ValuesNode' ? ((values as Loose).values as readonly Loose[]) : [];
  const given = outputs ? boundAt(outputs, at) : rows.length > 0 && rows.every((row) => givesValue(row, at));
  if (!given) {
    throw new TenantGuardError(`insert into ${table} does not give a value for ${rules.column} in each row`);
  }
  assertUnmoved(rules, onDuplicateKey?.updates ?? []);
};

const givesValue = (row: Loose, at: number): boolean => {
  const value = row.values?.[at];
  if (row.kind === 'PrimitiveValueListNode') return isTenantValue(value);
  return value !== undefined && isValueNode(value);
};

const assertUnmoved = (rules: TenantRules, updates: readonly OperationNode[]): void => {
  for (const update of updates) {
    const column = columnOf(unwrap((update as Loose).column ?? update))?.column;
    // A column that is raw SQL could be any.
    if (column !== undefined && column !== rules.column) continue;
    throw new TenantGuardError(`an update may not change ${rules.column}`);
  }
};

interface Parts {
  readonly tables: readonly OperationNode[];
  readonly joins?: readonly JoinNode[] | undefined;
  readonly where?: OperationNode | undefined;
}

/** Collects a query's sources and conditions, and demands that each tenant table among them is bound. */
const checkScope = (context: Context, verb: string, { tables, joins = [], where }: Parts): Scope => {
  const { rules } = context;
  const scope: Scope = { sources: new Map(), outer: context.outer, bound: new Set([always]) };
  const facts: Facts = { bound: scope.bound, edges: new Map() };
  const laterals: OperationNode[] = [];
  for (const table of tables) addSources(context, scope, table);
  for (const { joinType, table, on } of joins) {
    const lateral = joinType.startsWith('Lateral') || joinType.endsWith('Apply');
    if (lateral) laterals.push(table);
    const joined = lateral ? addSource(scope, named(table).alias, plain) : addSources(context, scope, table);
    if (on) addFacts(facts, factsOf(scope, rules.column, on.on), joinType, joined);
  }
  if (where) addFacts(facts, factsOf(scope, rules.column, where), 'InnerJoin', '');
  for (const [alias, { exposes }] of scope.sources) {
    if (exposes) scope.bound.add(columnKey(alias, rules.column));
  }
  close(facts);
  for (const [alias, { kind }] of scope.sources) {
    if (kind !== 'tenant' || scope.bound.has(columnKey(alias, rules.column))) continue;
    throw new TenantGuardError(
      `${verb}: nothing binds ${alias}.${rules.column}; compare it with a value, a list of values or the same ` +
        'column of a bound table, or go through acrossTenants',
    );
  }
  const inside = { ...context, outer: scope };
  for (const lateral of laterals) visit(inside, lateral);
  for (const { on } of joins) visitAny(inside, on);
  visitAny(inside, where);
  return scope;
};

const plain: Source = { kind: 'plain', exposes: false };

/** Adds what a FROM or JOIN names; returns the last alias, which is a join's only one. */
const addSources = (context: Context, scope: Scope, item: OperationNode): string => {
  if (item.kind === 'ListNode') {
    return ((item as never as { items: readonly OperationNode[] }).items ?? []).reduce(
      (_, one) => addSources(context, scope, one),
      '',
    );
  }
  const { alias, node } = named(item);
  if (node.kind === 'TableNode') return addSource(scope, alias, tableSource(context, node));
  if (node.kind === 'SelectQueryNode') {
    const exposes = exposesColumn(context.rules, checkQuery(context, node));
    return addSource(scope, alias, { kind: 'derived', exposes });
  }
  visit(context, node);
  return addSource(scope, alias, plain);
};

const addSource = (scope: Scope, alias: string, source: Source): string => {
  // Tables of the same name in two schemas would be treated as one, and the second not checked.
  if (scope.sources.has(alias)) throw new TenantGuardError(`${alias} is named twice; give it an alias`);
  scope.sources.set(alias, source);
  return alias;
};

const tableSource = ({ rules, ctes }: Context, node: OperationNode): Source => {
  const { name, inSchema } = tableNameOf(node);
  const cte = inSchema ? undefined : ctes.get(name);
  if (cte !== undefined) return { kind: 'derived', exposes: cte };
  return rules.tables.has(name) ? { kind: 'tenant', exposes: false } : plain;
};

const withCtes = (context: Context, node: WithNode | undefined): Context => {
  if (!node) return context;
  const ctes = new Map(context.ctes);
  const inner: Context = { ...context, ctes };
  for (const { name, expression } of node.expressions) {
    const table = tableNameOf(name.table).name;
    const columns = name.columns?.map(({ column }) => nameOf(column));
    const exposes = (outputs: readonly Output[]) =>
      exposesColumn(
        context.rules,
        columns ? columns.map((named, at) => ({ name: named, bound: boundAt(outputs, at) })) : outputs,
      );
    const query = unwrap(expression);
    if (node.recursive && query.kind === 'SelectQueryNode') {
      // By induction: the first part binds the column, and each next one keeps it bound if the last did.
      let assumed = false;
      ctes.set(table, assumed);
      const outputs = checkSelect(inner, query as SelectQueryNode, (base) => {
        assumed = exposes(base);
        ctes.set(table, assumed);
      });
      if (assumed && !exposes(outputs)) {
        throw new TenantGuardError(
          `${table}: each part of a recursive query must select a bound ${context.rules.column}`,
        );
      }
    } else {
      ctes.set(table, exposes(checkQuery(inner, query)));
    }
  }
  return inner;
};

const checkRaw = (context: Context, node: OperationNode, whole: boolean): void =>
  assertRaw(context.rules, node, { whole, visit: (inner) => visit(context, inner) });

const visitAny = (context: Context, part: unknown): void => {
  if (Array.isArray(part)) for (const item of part) visitAny(context, item);
  else if (typeof part === 'object' && part !== null && 'kind' in part) visit(context, part as OperationNode);
};

/** Looks for queries and raw SQL inside of anything else. */
const visit = (context: Context, node: OperationNode): void => {
  switch (node.kind) {
    case 'SelectQueryNode':
    case 'InsertQueryNode':
    case 'UpdateQueryNode':
    case 'DeleteQueryNode':
      checkQuery(context, node);
      break;
    case 'RawNode':
      checkRaw(context, node, false);
      break;
    case 'ValueNode':
    case 'PrimitiveValueListNode':
    case 'ReferenceNode':
    case 'ColumnNode':
    case 'IdentifierNode':
    case 'OperatorNode':
    case 'TableNode':
      break;
    default:
      for (const part of Object.values(node)) visitAny(context, part);
  }
};
