import { useBaseUrl } from '../../../app/session.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Card } from '../../../ui/card.tsx';
import { CodeBlock } from '../../../ui/code.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Row, Stack } from '../../../ui/layout.tsx';
import { type Document, type Listed, type Response, resolve } from './document.ts';
import { FieldList, fieldsOf } from './field-list.tsx';
import { MethodBadge } from './method-badge.tsx';
import { Inline, Prose } from './prose.tsx';
import s from './reference.module.css';

interface OperationViewProps {
  readonly document: Document;
  readonly listed: Listed;
}

export function OperationView({ document, listed: { method, path, operation } }: OperationViewProps) {
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

interface AnswerProps {
  readonly document: Document;
  readonly status: string;
  readonly response: Response;
}

function Answer({ document, status, response }: AnswerProps) {
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
