import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language';
import { type Diagnostic, linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { Compartment, EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { checkSchema } from './check-schema.ts';
import { positionOf } from './position-of.ts';
import { editorTheme } from './theme.ts';

export interface JsonEditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** JSON Schema. Mismatches are marked and do not block. */
  readonly schema: unknown;
}

/**
 * CodeMirror in a shadow root. There its styles are constructed style sheets, which a content security policy without
 * inline styles allows.
 */
export function CodeMirror({ label, value, onChange, schema }: JsonEditorProps) {
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
