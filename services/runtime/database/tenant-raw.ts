import type { OperationNode } from 'kysely';
import { isTenantList, TenantGuardError, type TenantRules } from './tenant-rules.ts';
import { type Loose, tableNameOf } from './tenant-scope.ts';

/**
 * Restricts raw SQL to forms that the guard can check without parsing SQL (`createTenantGuard`). `visit` receives
 * every node inside that is not text.
 */
export const assertRaw = (
  rules: TenantRules,
  node: OperationNode,
  { whole, visit }: { readonly whole: boolean; readonly visit: (inner: OperationNode) => void },
): void => {
  const flat: Flat = { text: '', tenantLists: 0 };
  flatten(rules, flat, node, visit);
  const text = flat.text.replace(stringLiteral, "''");
  if (comment.test(text) || text.includes(';')) {
    throw new TenantGuardError(`raw SQL may hold no comment and no semicolon: ${short(text)}`);
  }
  const mentions = text.match(rules.tableInText) ?? [];
  if (mentions.length > flat.tenantLists) {
    throw new TenantGuardError(
      `raw SQL names ${mentions.join(', ')} and says \`${rules.column} in \${tenantIn(ids)}\` ` +
        `${flat.tenantLists} times; say it once for each, or go through acrossTenants: ${short(text)}`,
    );
  }
  if (!whole && leaksConditions(text)) {
    throw new TenantGuardError(`put raw SQL with an "or" in parentheses: ${short(text)}`);
  }
};

interface Flat {
  text: string;
  tenantLists: number;
}

const stringLiteral = /'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*"/g;
/** Optimizer hints are the only comments allowed; a version comment is code. */
const comment = /\/\*(?!\+)|#|--(?=\s|$)/;

const flatten = (
  rules: TenantRules,
  flat: Flat,
  node: OperationNode,
  visit: (inner: OperationNode) => void,
): void => {
  const { kind, sqlFragments = [], parameters = [], name } = node as Loose;
  if (isTenantList(node)) {
    if (rules.bindingInText.test(flat.text)) flat.tenantLists++;
    flat.text += '(?)';
  } else if (kind === 'RawNode') {
    for (const [at, fragment] of sqlFragments.entries()) {
      flat.text += fragment;
      const parameter = parameters[at];
      if (parameter) flatten(rules, flat, parameter, visit);
    }
    // RawNode.createWithChildren writes its children between empty fragments.
    for (const rest of parameters.slice(sqlFragments.length)) flatten(rules, flat, rest, visit);
  } else if (kind === 'IdentifierNode') {
    flat.text += `\`${name}\``;
  } else if (kind === 'TableNode') {
    flat.text += `\`${tableNameOf(node).name}\``;
  } else {
    flat.text += '?';
    visit(node);
  }
};

/** An `or` outside of parentheses, or parentheses that close what they did not open. */
const leaksConditions = (text: string): boolean => {
  let depth = 0;
  for (const [token] of text.matchAll(/[()]|\|\||\bx?or\b/gi)) {
    if (token === '(') depth++;
    else if (token === ')') depth--;
    else if (depth === 0) return true;
    if (depth < 0) return true;
  }
  return depth !== 0;
};

const short = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 120);
