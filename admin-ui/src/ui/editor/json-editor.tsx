import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import {
  bracketMatching,
  ensureSyntaxTree,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { type Diagnostic, linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { Compartment, EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import { checkSchema } from './check-schema.ts';

interface JsonEditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** JSON Schema. Mismatches are marked and do not block. */
  readonly schema: unknown;
}

/** CodeMirror in a shadow root, whose style sheets a content security policy without inline styles allows. */
export function JsonEditor({ label, value, onChange, schema }: JsonEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const changed = useRef(onChange);
  changed.current = onChange;
  /** Texts that were reported and have not come back as the value yet. */
  const reported = useRef<string[]>([]);
  const schemaPart = useRef(new Compartment());

  // biome-ignore lint/correctness/useExhaustiveDependencies: made once; what changes later has its own effects
  useEffect(() => {
    if (!host.current) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          foldGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          json(),
          lintGutter(),
          linter(jsonParseLinter()),
          schemaPart.current.of(schemaLinter(schema)),
          // Escape, then Tab leaves the editor, so that keyboard users are not trapped in it.
          keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap, ...lintKeymap, indentWithTab]),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged) return;
            const text = update.state.doc.toString();
            reported.current.push(text);
            changed.current(text);
          }),
          editorTheme,
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);

  useEffect(() => {
    const editor = view.current;
    const at = reported.current.indexOf(value);
    // An earlier text comes back late when somebody types faster than the page renders. It must not undo the rest.
    if (at >= 0) return void reported.current.splice(0, at + 1);
    if (!editor || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
    reported.current = [];
  }, [value]);

  useEffect(() => {
    view.current?.dispatch({ effects: schemaPart.current.reconfigure(schemaLinter(schema)) });
  }, [schema]);

  return <div ref={host} />;
}

const schemaLinter = (schema: unknown) =>
  linter((view): readonly Diagnostic[] => {
    const text = view.state.doc.toString();
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return [];
    }
    return checkSchema(schema, value).map(({ path, message }) => ({
      ...positionOf(view.state, path),
      severity: 'warning',
      message: path.length === 0 ? message : `${path.join('.')} ${message}`,
    }));
  });

/** The portal's design tokens. They are custom properties, so they reach into the shadow root. */
const frame = EditorView.theme({
  '&': {
    border: '1px solid var(--control-line)',
    borderRadius: 'var(--radius)',
    background: 'var(--surface)',
    color: 'var(--ink)',
    fontSize: '0.78125rem',
    minHeight: '20rem',
    maxHeight: '32rem',
  },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', overflow: 'auto' },
  '.cm-content': { padding: '0.5rem 0', caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { background: 'transparent', border: '0', color: 'var(--ink-faint)' },
  '.cm-activeLine': { background: 'color-mix(in oklab, var(--hover) 60%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in oklab, var(--accent) 25%, transparent)',
  },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { background: 'var(--accent-soft)' },
  '.cm-foldPlaceholder': { background: 'var(--hover)', border: '0', color: 'var(--ink-quiet)' },
  '.cm-tooltip': {
    background: 'var(--raised)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius)',
    boxShadow: 'var(--shadow-2)',
    font: '0.8125rem var(--font)',
  },
  '.cm-diagnostic': { padding: '0.25rem 0.625rem' },
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--info)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
]);

const editorTheme = [frame, syntaxHighlighting(colours)];

const positionOf = (
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
