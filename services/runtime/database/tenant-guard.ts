import {
  AliasNode,
  AndNode,
  BinaryOperationNode,
  type CompiledQuery,
  DeleteQueryNode,
  IdentifierNode,
  InsertQueryNode,
  type Kysely,
  type KyselyPlugin,
  type OperationNode,
  OperatorNode,
  ParensNode,
  PrimitiveValueListNode,
  type QueryExecutorProvider,
  RawNode,
  ReferenceNode,
  type RootOperationNode,
  SelectQueryNode,
  TableNode,
  TupleNode,
  UpdateQueryNode,
  ValueListNode,
  ValueNode,
  ValuesNode,
} from 'kysely';
import type { Log } from '../log.ts';
import { TenantGuardError } from './errors.ts';
import type { Database, Trx } from './handle.ts';
import { columnOf, createRawCheck, isId, type RawCheck } from './tenant-raw.ts';

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

/**
 * Supports selects from tables with inner and left joins, updates of and deletes from one table, inserts of
 * rows or of a select, and subqueries among the values, and refuses a table in any other place.
 */
const createTenantCheck = (tables: ReadonlySet<string>, column: string): ((query: OperationNode) => void) => {
  if (tables.size === 0) return () => {};
  const lowerCase = new Set([...tables].map((table) => table.toLowerCase()));
  const rules: Rules = { tables: lowerCase, column, assertRaw: createRawCheck(lowerCase, column) };
  return (query) => {
    if (!RawNode.is(query) && !query.kind.endsWith('QueryNode'))
      throw new TenantGuardError(`${query.kind}: schema changes belong in a migration`);
    visit(rules, query);
  };
};

interface Rules {
  readonly tables: ReadonlySet<string>;
  readonly column: string;
  readonly assertRaw: RawCheck;
}

const visit = (rules: Rules, node: OperationNode): void => {
  if (ReferenceNode.is(node) || ValueNode.is(node) || PrimitiveValueListNode.is(node)) return;
  if (TableNode.is(node)) throw unsupported(`${node.table.identifier.name} in this place`);
  if (SelectQueryNode.is(node)) checkSelect(rules, node);
  else if (InsertQueryNode.is(node)) checkInsert(rules, node);
  else if (UpdateQueryNode.is(node)) checkUpdate(rules, node);
  else if (DeleteQueryNode.is(node)) checkDelete(rules, node);
  else if (RawNode.is(node)) rules.assertRaw(node, (parameter) => visit(rules, parameter));
  else visitAll(rules, node);
};

const visitAll = (rules: Rules, parts: object): void => {
  for (const part of Object.values(parts)) {
    if (typeof part !== 'object' || part === null) continue;
    if ('kind' in part) visit(rules, part);
    else visitAll(rules, part);
  }
};

const checkSelect = (rules: Rules, node: SelectQueryNode): void => {
  const { from, joins = [], where, setOperations, ...rest } = node;
  if (setOperations) throw unsupported('unions');
  const sources: Source[] = (from?.froms ?? []).map((table) => ({ table }));
  for (const { joinType, table, on } of joins) {
    if (joinType !== 'InnerJoin' && joinType !== 'LeftJoin') throw unsupported(joinType);
    sources.push({ table, on: on?.on });
  }
  assertBound(rules, sources, where?.where);
  visitAll(rules, [joins.map(({ on }) => on), where, ...Object.values(rest)]);
};

const checkUpdate = (rules: Rules, { table, where, updates = [], ...rest }: UpdateQueryNode): void => {
  if (assertBound(rules, [{ table }], where?.where)) assertUnchanged(rules, updates);
  visitAll(rules, [where, updates, ...Object.values(rest)]);
};

const checkDelete = (rules: Rules, { from, where, ...rest }: DeleteQueryNode): void => {
  assertBound(
    rules,
    from.froms.map((table) => ({ table })),
    where?.where,
  );
  visitAll(rules, [where, ...Object.values(rest)]);
};

const checkInsert = (rules: Rules, node: InsertQueryNode): void => {
  const { into, columns = [], values, onDuplicateKey, ...rest } = node;
  visitAll(rules, [values, onDuplicateKey, ...Object.values(rest)]);
  const { name } = tableOf(into);
  if (!rules.tables.has(name)) return;
  const at = columns.findIndex(({ column }) => column.name === rules.column);
  if (at === -1 || !givesValue(values, at, columns.length))
    throw new TenantGuardError(`insert into ${name}: each row must give ${rules.column} a value`);
  assertUnchanged(rules, onDuplicateKey?.updates ?? []);
};

const givesValue = (rows: OperationNode | undefined, at: number, columns: number): boolean => {
  if (rows && SelectQueryNode.is(rows)) {
    // A `*` before the value would move it to another column, unless it stands for one column only.
    const given = rows.selections?.length === columns ? rows.selections[at]?.selection : undefined;
    return given !== undefined && AliasNode.is(given) && isValue(given.node);
  }
  if (!rows || !ValuesNode.is(rows)) return false;
  return rows.values.every((row) =>
    PrimitiveValueListNode.is(row) ? isId(row.values[at]) : isValue(row.values[at]),
  );
};

const assertUnchanged = (rules: Rules, updates: readonly { readonly column: OperationNode }[]): void => {
  for (const { column } of updates) {
    const name = columnOf(column)?.toLowerCase().split('.').at(-1);
    if (name === undefined || name === rules.column.toLowerCase())
      throw new TenantGuardError(`an update may not change ${rules.column}`);
  }
};

interface Source {
  readonly table: OperationNode | undefined;
  /** It binds no other table: a left join keeps all rows of the others. */
  readonly on?: OperationNode | undefined;
}

/** @throws TenantGuardError if no condition binds a tenant table. @returns whether any is a tenant table */
const assertBound = (rules: Rules, sources: readonly Source[], where?: OperationNode): boolean => {
  const named = sources.map(({ table, on }) => ({ ...tableOf(table), on }));
  const tenants = named.filter(({ name }) => rules.tables.has(name));
  for (const { alias, on } of tenants) {
    const column = `${alias}.${rules.column}`;
    const names = sources.length === 1 ? [column, rules.column] : [column];
    if (binds(names, where) || binds(names, on)) continue;
    throw new TenantGuardError(
      `no condition binds ${column}; compare it with a value or a list of values in the where, or in the on of its ` +
        'join, or go through acrossTenants',
    );
  }
  return tenants.length > 0;
};

const binds = (names: readonly string[], condition: OperationNode | undefined): boolean => {
  if (!condition) return false;
  if (ParensNode.is(condition)) return binds(names, condition.node);
  if (AndNode.is(condition)) return binds(names, condition.left) || binds(names, condition.right);
  if (!BinaryOperationNode.is(condition) || !OperatorNode.is(condition.operator)) return false;
  const { leftOperand: left, operator, rightOperand: right } = condition;
  const isColumn = (node: OperationNode) => names.includes(columnOf(node) ?? '');
  if (operator.operator === '=') return isColumn(left) && isValue(right);
  if (operator.operator !== 'in') return false;
  if (PrimitiveValueListNode.is(right))
    return isColumn(left) && right.values.length > 0 && right.values.every(isId);
  if (!TupleNode.is(left) || !ValueListNode.is(right)) return false;
  const at = left.values.findIndex(isColumn);
  return right.values.length > 0 && right.values.every((row) => TupleNode.is(row) && isValue(row.values[at]));
};

const tableOf = (item: OperationNode | undefined): { readonly name: string; readonly alias: string } => {
  const node = item && AliasNode.is(item) ? item.node : item;
  if (!node || !TableNode.is(node)) throw unsupported(`${node?.kind} in place of a table`);
  const { schema, identifier } = node.table;
  const alias = item && AliasNode.is(item) ? item.alias : identifier;
  if (schema || !IdentifierNode.is(alias)) throw unsupported('a schema or a raw alias');
  return { name: identifier.name.toLowerCase(), alias: alias.name };
};

const isValue = (node: OperationNode | undefined): boolean =>
  node !== undefined && ValueNode.is(node) && isId(node.value);

const unsupported = (what: string): TenantGuardError =>
  new TenantGuardError(
    `the tenant guard does not support ${what}; write tables, inner and left joins, and conditions joined by and, ` +
      'or go through acrossTenants',
  );
