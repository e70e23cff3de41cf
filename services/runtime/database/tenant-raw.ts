import {
  ColumnNode,
  type Expression,
  IdentifierNode,
  type OperationNode,
  type RawBuilder,
  RawNode,
  ReferenceNode,
  sql,
  TableNode,
  ValueNode,
} from 'kysely';
import { TenantGuardError } from './errors.ts';

/** For raw SQL: `` sql`… where c.company_id in ${tenantIn(ids)}` ``, written as `(1, 2, 3)`. */
export const tenantIn = (ids: TenantId | readonly TenantId[]): Expression<unknown> => {
  const list = typeof ids === 'object' ? ids : [ids];
  if (list.length === 0) throw new Error('tenantIn needs at least one id');
  const node = { ...sql`(${sql.join(list)})`.toOperationNode(), isTenantList: true };
  return { expressionType: undefined, toOperationNode: () => node };
};

/** The same for one tenant: `` c.company_id = ${tenantIs(id)} ``. Vitess sees that it concerns one shard. */
export const tenantIs = (id: TenantId): Expression<unknown> => {
  const node = { ...sql`${id}`.toOperationNode(), isTenantList: true };
  return { expressionType: undefined, toOperationNode: () => node };
};

type TenantId = number | bigint | string;

export type Value = string | number | Date | Buffer | null;

/** Rows as one parameter, written as `(1, 2), (3, 4)`: the query is the same for any number of rows. */
export const rowList = (rows: readonly (readonly Value[])[]): RawBuilder<unknown> => {
  if (rows.length === 0) throw new Error('a list in a query needs at least one row');
  return sql`${rows}`;
};

/**
 * Checks raw SQL without parsing it: each tenant table needs its own `tenantIn`, `tenantIs` or `rowList` whose rows begin
 * with the tenant, and no comment, semicolon or `or` outside of parentheses may undo it. @param visit receives the parameters.
 */
export const createRawCheck = (tables: ReadonlySet<string>, column: string): RawCheck => {
  const tableName = new RegExp(`\\b(?:${[...tables].map(escaped).join('|')})\\b(?!\\s*\\.)`, 'gi');
  const named = `(?:(\\w+)\\s*\\.\\s*)?\\b${escaped(column)}`;
  const namedFirst = `\\[\\s*${named}\\s*(?:,[^\\][]*)?\\]`;
  const bindings = [
    `${named}(?:\\s+in|\\s*=)\\s*${listMark}`,
    `${namedFirst}\\s*in\\s*\\[\\s*${rowsMark}\\s*\\]`,
    `\\binto\\s+\\w+\\s*${namedFirst}\\s*values\\s*${rowsMark}\\s*(?=$|on\\s+duplicate\\b)`,
  ].map((binding) => new RegExp(binding, 'gi'));
  const moving = new RegExp(`\\bon\\s+duplicate\\b.*\\b${escaped(column)}\\s*=`, 'is');
  return (node, visit) => {
    const text = textOf(node, visit).replace(stringLiteral, "''").replace(hint, ' ').replaceAll('`', ' ');
    const refuse = (why: string) => {
      throw new TenantGuardError(`raw SQL ${why}: ${text.replace(/\s+/g, ' ').trim().slice(0, 120)}`);
    };
    if (comment.test(text) || text.includes(';')) refuse('may hold no comment and no semicolon');
    const certain = withoutAlternatives(text);
    if (or.test(certain) || /[()]/.test(certain))
      refuse('must put an "or" in parentheses and close what it opens');
    const names = text.match(tableName) ?? [];
    const conditions = certain.replace(assignments, ' ');
    const bound = new Set(
      bindings.flatMap((binding) =>
        [...conditions.matchAll(binding)].map(([, alias]) => alias?.toLowerCase()),
      ),
    );
    if (names.length > 0 && moving.test(text)) refuse(`may not change ${column}`);
    if (names.length > bound.size)
      refuse(
        `names ${names.join(', ')} and binds ${bound.size} of them; say \`alias.${column} in \${tenantIn(ids)}\` ` +
          'for each, or go through acrossTenants',
      );
  };
};

export type RawCheck = (node: RawNode, visit: (parameter: OperationNode) => void) => void;

const escaped = (name: string): string => name.replace(/\W/g, '\\$&');

const listMark = '\0';
const rowsMark = '\x01';

export const isRowsOfTenants = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((row) => Array.isArray(row) && isId(row[0]));

export const isId = (value: unknown): boolean =>
  ['number', 'bigint', 'string'].includes(typeof value) && value !== '';

const stringLiteral = /'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*"/g;
/** For the optimizer: it names tables, and reads none. */
const hint = /\/\*\+[^*]*\*\//g;
/** MySQL runs a version comment as code. */
const comment = /\/\*|#|--(?=\s|$)/;

/** `company_id = 1` in the SET of an update is no condition. */
const assignments = /\bset\b.*?(?=\bwhere\b|$)/gis;

const textOf = (node: OperationNode, visit: (parameter: OperationNode) => void): string => {
  if ('isTenantList' in node) return listMark;
  if (ValueNode.is(node) && isRowsOfTenants(node.value)) return rowsMark;
  if (RawNode.is(node))
    return node.sqlFragments
      .map((text, at) => text + (at in node.parameters ? textOf(node.parameters[at]!, visit) : ''))
      .join('');
  if (IdentifierNode.is(node)) return ` ${node.name} `;
  if (TableNode.is(node)) return ` ${node.table.identifier.name} `;
  const column = columnOf(node);
  if (column !== undefined) return ` ${column} `;
  visit(node);
  return ' ? ';
};

export const columnOf = (node: OperationNode): string | undefined => {
  if (ColumnNode.is(node)) return node.column.name;
  if (!ReferenceNode.is(node) || !ColumnNode.is(node.column)) return undefined;
  const { name } = node.column.column;
  return node.table ? `${node.table.table.identifier.name}.${name}` : name;
};

/** Empties parentheses that are negated or hold an `or`, as they bind nothing; others become brackets. */
const withoutAlternatives = (text: string): string => {
  const shorter = text.replace(/(\bnot\s*)?\(([^()]*)\)/gi, (_, not, inside) =>
    not || or.test(inside) ? '[]' : `[${inside}]`,
  );
  return shorter === text ? text : withoutAlternatives(shorter);
};

const or = /\|\||\bx?or\b/i;
