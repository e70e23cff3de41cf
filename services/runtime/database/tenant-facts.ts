import type { JoinNode, OperationNode } from 'kysely';
import { isTenantList } from './tenant-rules.ts';
import {
  type ColumnKey,
  isOf,
  isTenantValue,
  isValueNode,
  type Loose,
  resolve,
  type Scope,
  unwrap,
} from './tenant-scope.ts';

/**
 * What a condition proves about columns: those equal to values, and those equal to another column (`from` bound makes
 * `to` bound).
 */
export interface Facts {
  readonly bound: Set<ColumnKey>;
  readonly edges: Map<string, { readonly from: ColumnKey; readonly to: ColumnKey }>;
}

/** Reads a condition in the scope whose columns it names. Only `and`, `or`, `=` and `in` say anything. */
export const factsOf = (scope: Scope, column: string, condition: OperationNode): Facts => {
  const facts: Facts = { bound: new Set(), edges: new Map() };
  gather(facts, scope, column, condition);
  return facts;
};

/** Adds to `bound` every column that the edges reach. */
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

/** Keeps the facts of an ON that hold for the result's rows: an outer join's ON restricts the optional side only. */
export const addFacts = (
  facts: Facts,
  { bound, edges }: Facts,
  joinType: JoinNode['joinType'],
  joined: string,
): void => {
  const inner = ['InnerJoin', 'CrossJoin', 'LateralInnerJoin', 'LateralCrossJoin'].includes(joinType);
  const left = joinType === 'LeftJoin' || joinType === 'LateralLeftJoin';
  const restricts = (key: string): boolean =>
    inner || (left && isOf(joined, key)) || (joinType === 'RightJoin' && !isOf(joined, key));
  for (const key of bound) if (restricts(key)) facts.bound.add(key);
  for (const [name, edge] of edges) if (restricts(edge.to)) facts.edges.set(name, edge);
};

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
