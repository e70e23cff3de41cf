import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx', '*.mjs'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && !file.includes('.generated.'));

/** Adjectives that say nothing without their noun. */
const bare = new Set(['one', 'known', 'own', 'wanted', 'asked', 'made', 'given', 'told']);
const mostLines = 5;

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}
const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';
const childrenOf = (node: Node): readonly Node[] => Object.values(node).flat().filter(isNode);
const isScope = ({ type }: Node): boolean => /Function|^Program$|BlockStatement|^For|CatchClause/.test(type);

/** The identifiers that a pattern declares. */
const declaredBy = (pattern: Node): readonly Node[] => {
  if (pattern.type === 'Identifier') return [pattern];
  if (pattern.type === 'Property') return declaredBy(pattern.value as Node);
  if (pattern.type === 'AssignmentPattern') return declaredBy(pattern.left as Node);
  return /Pattern$|RestElement/.test(pattern.type) ? childrenOf(pattern).flatMap(declaredBy) : [];
};

/** @returns each declaration under a bare name that more than a few lines see, as place and name. */
const bareNamesIn = (file: string): readonly string[] => {
  const text = readFileSync(join(root, file), 'utf8');
  const lineOf = (offset: number): number => text.slice(0, offset).split('\n').length;
  const look = (node: Node, scope: Node): readonly string[] => {
    const inner = isScope(node) ? node : scope;
    const params = /Function/.test(node.type) && isNode(node.body) ? (node.params as readonly Node[]) : [];
    const patterns = node.type === 'VariableDeclarator' ? [node.id as Node] : params;
    const found = patterns
      .flatMap(declaredBy)
      .filter(({ name }) => bare.has(name as string))
      .filter(({ start }) => lineOf(inner.end) - lineOf(start) >= mostLines)
      .map(({ start, name }) => `${file}:${lineOf(start)} ${name}`);
    return [...found, ...childrenOf(node).flatMap((child) => look(child, inner))];
  };
  const program = parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }, file) as unknown as Node;
  return look(program, program);
};

const roomOf = (file: string): string =>
  /\.test\.|\/testing\/|^e2e\//.test(file) ? 'tests' : file.startsWith('admin-ui/') ? 'admin-ui' : 'rest';

// Who renames lowers the bound.
test.each([
  ['rest', 0],
  ['admin-ui', 49],
  ['tests', 346],
])('a name in %s that lives longer than five lines has its noun, but for at most %i', (room, most) => {
  const found = files.filter((file) => roomOf(file) === room).flatMap(bareNamesIn);
  expect(found.slice(most), found.join('\n')).toEqual([]);
});
