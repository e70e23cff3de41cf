import { Suspense } from 'react';
import { CodeBlock } from '../ui/code.tsx';
import { Fieldset } from '../ui/form.tsx';
import { Stack } from '../ui/layout.tsx';
import { Skeleton, SkeletonLines } from '../ui/states.tsx';
import { Segmented } from '../ui/toolbar.tsx';
import { lazyPage } from './lazy-page.ts';

const JsonEditor = lazyPage(() => import('../ui/editor/json-editor.tsx'), 'JsonEditor');

interface PayloadFieldProps {
  /** Undefined while the catalog loads. */
  readonly sample: unknown;
  readonly schema: unknown;
  /** The custom JSON; null if the sample is sent. */
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
  readonly error: string | undefined;
}

export function PayloadField({ sample, schema, value, onChange, error }: PayloadFieldProps) {
  const text = sample === undefined ? '' : JSON.stringify(sample, null, 2);
  return (
    <Fieldset legend="Payload" error={error}>
      <Stack gap="s">
        <div>
          <Segmented
            label="Which payload"
            value={value === null ? 'sample' : 'own'}
            options={[
              { value: 'sample', label: 'Sample' },
              { value: 'own', label: 'Own JSON' },
            ]}
            onChange={(kind) => onChange(kind === 'own' ? text : null)}
          />
        </div>
        {value !== null ? (
          <>
            <Suspense fallback={<Skeleton height="20rem" />}>
              <JsonEditor label="Payload as JSON" value={value} onChange={onChange} schema={schema} />
            </Suspense>
            <span className="visually-hidden">Press Escape, then Tab, to leave the editor.</span>
          </>
        ) : sample === undefined ? (
          <SkeletonLines lines={8} />
        ) : (
          <CodeBlock code={text} language="json" label="sample payload" />
        )}
      </Stack>
    </Fieldset>
  );
}

/** Throws a plain sentence, which the form shows. */
export const parsePayload = (text: string): Record<string, unknown> => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('The payload is not valid JSON. The editor marks the error');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('The payload must be a JSON object');
  return value as Record<string, unknown>;
};
