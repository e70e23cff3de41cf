import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import clsx from 'clsx';
import { useState } from 'react';
import { useBaseUrl } from '../../app/session.ts';
import { CopyButton } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { Field, TextInput } from '../../ui/form.tsx';
import { Card, Row, Stack } from '../../ui/layout.tsx';
import { Loaded, SkeletonCard } from '../../ui/states.tsx';
import { Badge } from '../../ui/values.tsx';
import {
  type Document,
  documentQuery,
  type Listed,
  operationsOf,
  type Response,
  resolve,
  type Schema,
} from './document.ts';
import s from './reference.module.css';

export function Reference() {
  const query = useQuery(documentQuery);
  return (
    <Loaded query={query} skeleton={<SkeletonCard lines={16} />}>
      {(document) => <Browser document={document} />}
    </Loaded>
  );
}

function Browser({ document }: { readonly document: Document }) {
  const search = useSearch({ from: '/in/developers' });
  const navigate = useNavigate({ from: '/developers' });
  const [text, setText] = useState('');
  const all = operationsOf(document);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = all.filter(({ method, path, operation }) =>
    words.every((word) => `${method} ${path} ${operation.summary}`.toLowerCase().includes(word)),
  );
  const chosen = all.find((one) => one.operation.operationId === search.operation) ?? all[0];
  const choose = ({ operation }: Listed): void =>
    void navigate({ search: { ...search, operation: operation.operationId }, replace: true });
  return (
    <div className={s.browser}>
      <nav aria-label="Operations" className={s.nav}>
        <Field label="Search operations" hideLabel>
          <TextInput type="search" placeholder="Search operations…" value={text} onValue={setText} />
        </Field>
        {document.tags.map((tag) => {
          const ofTag = shown.filter((one) => one.operation.tags.includes(tag.name));
          if (ofTag.length === 0) return null;
          return (
            <div key={tag.name}>
              <p className={s.tag}>{tag.name}</p>
              <ul>
                {ofTag.map((one) => (
                  <li key={one.operation.operationId}>
                    <button
                      type="button"
                      className={s.link}
                      aria-current={one === chosen ? 'true' : undefined}
                      onClick={() => choose(one)}
                    >
                      <MethodBadge method={one.method} />
                      <span>{one.operation.summary}</span>
                    </button>
                  </li>
                ))}
              </ul>
            </div>
          );
        })}
        <p className={s.file}>
          <a href="/api/v1/openapi.json" download>
            Download openapi.json
          </a>
        </p>
      </nav>
      {chosen && <OperationView key={chosen.operation.operationId} document={document} listed={chosen} />}
    </div>
  );
}

interface OperationViewProps {
  readonly document: Document;
  readonly listed: Listed;
}

function OperationView({ document, listed: { method, path, operation } }: OperationViewProps) {
  const url = `${useBaseUrl().replace(/\/api\/v1$/, '')}${path}`;
  const body = operation.requestBody?.content?.['application/json'];
  const { parameters = [] } = operation;
  return (
    <Stack>
      <Card title={operation.summary}>
        <Stack>
          <Row nowrap justify="space-between">
            <code className={s.path}>
              <MethodBadge method={method} /> {path}
            </code>
            <CopyButton value={url} label="Copy URL" />
          </Row>
          {operation.description !== undefined && <Prose text={operation.description} />}
        </Stack>
      </Card>
      {parameters.length > 0 && (
        <Card title="Parameters">
          <FieldList
            document={document}
            fields={parameters.map((one) => ({
              name: one.name,
              required: one.required ?? false,
              note: one.in,
              schema: {
                ...resolve(document, one.schema ?? {}),
                ...(one.description === undefined ? {} : { description: one.description }),
              },
            }))}
          />
        </Card>
      )}
      {body && (
        <Card title="Body">
          <Stack>
            {body.schema && <FieldList document={document} fields={fieldsOf(document, body.schema)} />}
            {body.example !== undefined && (
              <CodeBlock
                title="Example"
                code={JSON.stringify(body.example, null, 2)}
                language="json"
                label="example of the body"
              />
            )}
          </Stack>
        </Card>
      )}
      <Card title="Answers">
        <Stack>
          {Object.entries(operation.responses).map(([status, response]) => (
            <Answer key={status} document={document} status={status} response={response} />
          ))}
        </Stack>
      </Card>
    </Stack>
  );
}

function Answer({ document, status, response }: { document: Document; status: string; response: Response }) {
  const { description, content } = resolve(document, response);
  const json = content?.['application/json'];
  const good = status.startsWith('2');
  return (
    <details open={good}>
      <summary>
        <Badge tone={good ? 'good' : status.startsWith('5') ? 'bad' : 'warn'}>{status}</Badge>{' '}
        <Inline text={description?.split('. ')[0] ?? ''} />
      </summary>
      <Stack gap="s">
        {json?.schema && good && <FieldList document={document} fields={fieldsOf(document, json.schema)} />}
        {json?.example !== undefined && (
          <CodeBlock
            title="Example"
            code={JSON.stringify(json.example, null, 2)}
            language="json"
            label={`example of the answer ${status}`}
          />
        )}
      </Stack>
    </details>
  );
}

interface ShownField {
  readonly name: string;
  readonly required: boolean;
  readonly note?: string;
  readonly schema: Schema;
}

function FieldList({
  document,
  fields,
}: {
  readonly document: Document;
  readonly fields: readonly ShownField[];
}) {
  if (fields.length === 0) return null;
  return (
    <ul className={s.list}>
      {fields.map((field) => {
        const schema = resolve(document, field.schema);
        const inner = fieldsOf(document, schema);
        return (
          <li key={field.name}>
            <p className={s.name}>
              <code>{field.name}</code> <span className={s.type}>{typeOf(document, schema)}</span>
              {field.note !== undefined && <Badge>{field.note}</Badge>}
              {field.required && <Badge tone="accent">required</Badge>}
            </p>
            {schema.description !== undefined && <Prose text={schema.description} />}
            {schema.enum && (
              <p className={s.rules}>
                One of{' '}
                {schema.enum.map((value) => (
                  <code key={String(value)}>{String(value)} </code>
                ))}
              </p>
            )}
            {rulesOf(schema) !== '' && <p className={s.rules}>{rulesOf(schema)}</p>}
            <FieldList document={document} fields={inner} />
          </li>
        );
      })}
    </ul>
  );
}

const fieldsOf = (document: Document, schema: Schema): readonly ShownField[] => {
  const whole = resolve(document, schema);
  const object = whole.items ? resolve(document, whole.items) : whole;
  return Object.entries(object.properties ?? {}).map(([name, inner]) => ({
    name,
    required: object.required?.includes(name) ?? false,
    schema: inner,
  }));
};

const typeOf = (document: Document, schema: Schema): string => {
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return [...new Set(either.map((one) => typeOf(document, resolve(document, one))))].join(' or ');
  if (schema.items) return `list of ${typeOf(document, resolve(document, schema.items))}`;
  const types = [schema.type ?? 'any'].flat().join(' or ');
  return schema.format === undefined ? types : `${types}, ${schema.format}`;
};

const rulesOf = ({ minLength, maxLength, minimum, maximum, default: otherwise }: Schema): string =>
  [
    minLength !== undefined && maxLength !== undefined && `${minLength}–${maxLength} characters`,
    minLength === undefined && maxLength !== undefined && `at most ${maxLength} characters`,
    minimum !== undefined && `at least ${minimum}`,
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && `at most ${maximum}`,
    otherwise !== undefined && `${JSON.stringify(otherwise)} when left out`,
  ]
    .filter(Boolean)
    .join('; ');

/** Text of the document: paragraphs, with `code` and **strong** in it. */
function Prose({ text }: { readonly text: string }) {
  return (
    <div className={s.prose}>
      {text.split(/\n{2,}/).map((paragraph) => (
        <p key={paragraph}>
          <Inline text={paragraph} />
        </p>
      ))}
    </div>
  );
}

function Inline({ text }: { readonly text: string }) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part, index) => {
    const key = `${index}-${part}`;
    if (part.startsWith('`')) return <code key={key}>{part.slice(1, -1)}</code>;
    if (part.startsWith('**')) return <strong key={key}>{part.slice(2, -2)}</strong>;
    return part;
  });
}

function MethodBadge({ method }: { readonly method: string }) {
  return <span className={clsx(s.method, s[method.toLowerCase()])}>{method}</span>;
}
