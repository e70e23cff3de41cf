import type { OperationNode } from 'kysely';
import type { TenantRules } from './tenant-rules.ts';
import {
  columnKey,
  columnOf,
  isValueNode,
  type Loose,
  named,
  resolve,
  type Scope,
  tableNameOf,
} from './tenant-scope.ts';

/** One column of a select's result; the name `*` stands for all columns of one or every source. */
export interface Output {
  readonly name: string;
  /** True if the query's conditions bind the column; for `*`, its tenant column. */
  readonly bound: boolean;
}

export const outputOf = (rules: TenantRules, scope: Scope, selection: OperationNode): Output => {
  const item = (selection as never as { selection: OperationNode }).selection;
  if (item.kind === 'SelectAllNode') return { name: '*', bound: anyBound(rules, scope, undefined) };
  if (item.kind === 'ReferenceNode' && (item as Loose).column?.kind === 'SelectAllNode') {
    const table = (item as Loose).table;
    return { name: '*', bound: anyBound(rules, scope, table && tableNameOf(table).name) };
  }
  const { alias, node } = named(item);
  const key = resolve(scope, rules.column, node);
  const bound = isValueNode(node) || (key !== undefined && scope.bound.has(key));
  return { name: alias || (columnOf(node)?.column ?? ''), bound };
};

/** Whether a select's tenant column, by name, is bound. */
export const exposesColumn = (rules: TenantRules, outputs: readonly Output[]): boolean => {
  const own = outputs.filter(({ name }) => name === rules.column || name === '*');
  return own.some(({ bound }) => bound) && own.every(({ name, bound }) => bound || name === '*');
};

/** Whether a select's column at a position is bound. Unknown after a `*`, whose number of columns is unknown. */
export const boundAt = (outputs: readonly Output[], at: number): boolean =>
  outputs[at]?.bound === true && outputs.slice(0, at + 1).every(({ name }) => name !== '*');

/** A union takes its names from the first part and matches columns by position. */
export const unionOf = (first: readonly Output[], next: readonly Output[]): readonly Output[] =>
  first.map(({ name }, at) => ({ name, bound: boundAt(first, at) && boundAt(next, at) }));

const anyBound = (rules: TenantRules, scope: Scope, alias: string | undefined): boolean =>
  [...scope.sources.keys()].some(
    (name) => (alias === undefined || alias === name) && scope.bound.has(columnKey(name, rules.column)),
  );
