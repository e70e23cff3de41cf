import { type ReactNode, useState } from 'react';
import type { Answer } from '../../../api/types.ts';
import { Badge } from '../../../ui/badge.tsx';
import { CodeBlock, prettyJson } from '../../../ui/code.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { bytes, milliseconds } from '../../../ui/format.ts';
import { Facts, Quiet, Row, Stack } from '../../../ui/layout.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { causeOf } from './causes.ts';
import { toCurl } from './curl.ts';
import { Headers } from './headers.tsx';
import { Timings } from './timings.tsx';

type Tested = Answer<'testPortalSubscription'>;

/** An attempt of a test or of a delivery. The body of an old delivery may be deleted. */
export type Attempt = Omit<Tested, 'request'> & {
  readonly request: Omit<Tested['request'], 'body'> & { readonly body: string | null };
};

type Tab = 'response' | 'request' | 'timings';

/** One attempt: its result and cause, the response, and the request as sent. */
export function AttemptView({ attempt, when }: { readonly attempt: Attempt; readonly when?: ReactNode }) {
  const [tab, setTab] = useState<Tab>('response');
  return (
    <Stack>
      <Outcome attempt={attempt} when={when} />
      <Tabs
        label="Parts of the attempt"
        value={tab}
        onChange={setTab}
        tabs={[
          { id: 'response', label: 'Response' },
          { id: 'request', label: 'Request as sent' },
          { id: 'timings', label: 'Timings' },
        ]}
      >
        {tab === 'response' && <Response response={attempt.response} />}
        {tab === 'request' && <Request request={attempt.request} />}
        {tab === 'timings' && <Timings attempt={attempt} />}
      </Tabs>
    </Stack>
  );
}

export function StatusBadge({
  attempt,
}: {
  readonly attempt: Pick<Attempt, 'success' | 'statusCode' | 'errorClass'>;
}) {
  const { success, statusCode, errorClass } = attempt;
  return (
    <Badge tone={success ? 'good' : 'bad'} dot>
      {statusCode ?? (errorClass === null ? 'No answer' : classLabels[errorClass])}
    </Badge>
  );
}

export const classLabels: Readonly<Record<NonNullable<Attempt['errorClass']>, string>> = {
  dns: 'Host not found',
  connect: 'No connection',
  tls: 'TLS failed',
  timeout: 'Timed out',
  reset: 'Connection lost',
  redirect: 'Redirect',
  blocked_address: 'Blocked address',
  status: 'Refused',
};

function Outcome({ attempt, when }: { readonly attempt: Attempt; readonly when: ReactNode }) {
  const cause = causeOf(attempt);
  return (
    <Stack gap="s">
      <Row gap="m">
        <StatusBadge attempt={attempt} />
        <span>{milliseconds(attempt.elapsedMs)}</span>
        {when}
        {attempt.address !== null && (
          <Quiet small>
            to <code>{attempt.address}</code>
          </Quiet>
        )}
      </Row>
      {cause ? (
        <Notice tone="bad" title={cause.title}>
          <p>{cause.advice}</p>
          {attempt.error !== null && (
            <p>
              <Quiet small>
                <code>{attempt.error}</code>
              </Quiet>
            </p>
          )}
        </Notice>
      ) : (
        <Notice tone="good">The receiver accepted the delivery.</Notice>
      )}
    </Stack>
  );
}

function Response({ response }: { readonly response: Attempt['response'] }) {
  if (!response) return <p>No response.</p>;
  return (
    <Stack>
      {response.body === '' ? (
        <Quiet>The response had no body.</Quiet>
      ) : (
        <CodeBlock
          code={prettyJson(response.body)}
          raw={response.body}
          language={/^\s*[[{]/.test(response.body) ? 'json' : 'text'}
          label="response body"
          title={response.bodyBase64 ? 'Body, as base64 (not text)' : 'Body'}
          wrap
        />
      )}
      {response.truncated && <Quiet small>The body was longer; only its beginning is stored.</Quiet>}
      <Headers headers={response.headers} label="Response headers" />
    </Stack>
  );
}

function Request({ request }: { readonly request: Attempt['request'] }) {
  const { body } = request;
  return (
    <Stack>
      <Row justify="space-between">
        <code>POST {request.url}</code>
        {body !== null && (
          <CopyButton value={() => toCurl({ ...request, body })} label="Copy as curl" variant="secondary">
            Copy as curl
          </CopyButton>
        )}
      </Row>
      {body === null ? (
        <Quiet>The event was deleted after its retention time, so its body is gone.</Quiet>
      ) : (
        <CodeBlock
          code={prettyJson(body)}
          raw={body}
          language="json"
          label="request body"
          title={`Body as signed and sent (${bytes(new TextEncoder().encode(body).length)})`}
          wrap
        />
      )}
      <Headers headers={request.headers} label="Request headers" />
      <Facts
        facts={[
          { label: 'Signed text', value: <code>{`${request.timestamp}.<body>`}</code> },
          { label: 'Signature', value: <code>{request.signature}</code> },
        ]}
      />
    </Stack>
  );
}
