import { Suspense } from 'react';
import { TextArea } from '../form.tsx';
import { lazyPart } from '../lazy-part.ts';
import type { JsonEditorProps } from './code-mirror.tsx';
import s from './json-editor.module.css';

const CodeMirror = lazyPart(
  () => import('./code-mirror.tsx'),
  (m) => m.CodeMirror,
);

/** A JSON editor. A plain field takes its place until its code has loaded. */
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
