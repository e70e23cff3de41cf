import { ensureSyntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';

/** The position in the text of the value at a path. */
export const positionOf = (
  state: EditorState,
  path: readonly (string | number)[],
): { readonly from: number; readonly to: number } => {
  let node = ensureSyntaxTree(state, state.doc.length, 200)?.topNode.firstChild ?? null;
  for (const step of path) {
    if (!node) break;
    if (typeof step === 'number') {
      node = valuesOf(node)[step] ?? null;
      continue;
    }
    const property = node.getChildren('Property').find((one) => {
      const name = one.getChild('PropertyName');
      return name && state.sliceDoc(name.from, name.to) === JSON.stringify(step);
    });
    node = property?.lastChild ?? null;
  }
  if (!node) return { from: 0, to: Math.min(1, state.doc.length) };
  // Marks an object by its opening brace; marking all of it would underline too much.
  return node.name === 'Object' || node.name === 'Array'
    ? { from: node.from, to: node.from + 1 }
    : { from: node.from, to: node.to };
};

type SyntaxNode = NonNullable<ReturnType<typeof ensureSyntaxTree>>['topNode'];

const valuesOf = (node: SyntaxNode): SyntaxNode[] => {
  const values: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (!/^[[\],]$/.test(child.name)) values.push(child);
  }
  return values;
};
