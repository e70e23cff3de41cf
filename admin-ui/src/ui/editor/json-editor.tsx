import { Suspense } from 'react';
import { lazyPart } from '../../app/lazy-part.ts';
import { TextArea } from '../field.tsx';
import s from './json-editor.module.css';

export interface JsonEditorProps {
  readonly id?: string;
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** JSON Schema; what differs from it is marked and does not hinder. */
  readonly schema: unknown;
  readonly 'aria-describedby'?: string | undefined;
}

const CodeMirror = lazyPart(
  () => import('./code-mirror.tsx'),
  (m) => m.CodeMirror,
);

/** An editor for JSON. Until its code has come, a plain field holds its place. */
export function JsonEditor(props: JsonEditorProps) {
  return (
    <div className={s.frame}>
      <Suspense
        fallback={
          <TextArea
            mono
            rows={14}
            aria-label={props.label}
            value={props.value}
            onChange={(event) => props.onChange(event.target.value)}
          />
        }
      >
        <CodeMirror {...props} />
      </Suspense>
    </div>
  );
}
