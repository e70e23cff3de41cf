import { type ReactNode, useState } from 'react';
import { CopyButton } from '../ui/button.tsx';
import { CodeBlock, prettyJson } from '../ui/code.tsx';
import { bytes, milliseconds, shellQuoted } from '../ui/format.ts';
import { Facts, Quiet, Row, Stack } from '../ui/layout.tsx';
import { Notice } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Badge } from '../ui/values.tsx';
import s from './attempt-view.module.css';
import { causeOf } from './causes.ts';
import type { Answer } from './client.ts';

type TestAttempt = Answer<'testPortalSubscription'>;

/** The body of an old delivery may be deleted. */
type Attempt = Omit<TestAttempt, 'request'> & {
  readonly request: Omit<TestAttempt['request'], 'body'> & { readonly body: string | null };
};

type Tab = 'response' | 'request' | 'timings';

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
        facts={{
          'Signed text': <code>{`${request.timestamp}.<body>`}</code>,
          Signature: <code>{request.signature}</code>,
        }}
      />
    </Stack>
  );
}

function Timings({ attempt: { timings, elapsedMs } }: { readonly attempt: Attempt }) {
  const { dnsMs, connectMs, tlsMs, firstByteMs } = timings;
  const setUp = (dnsMs ?? 0) + (connectMs ?? 0) + (tlsMs ?? 0);
  const steps = {
    'DNS lookup': dnsMs,
    Connect: connectMs,
    'TLS handshake': tlsMs,
    'Wait for response': firstByteMs && Math.max(firstByteMs - setUp, 0),
    'Read response': firstByteMs && Math.max(elapsedMs - firstByteMs, 0),
    Total: elapsedMs,
  };
  return (
    <Facts
      columns={8}
      facts={Object.fromEntries(
        Object.entries(steps).map(([label, ms]) => [label, ms === null ? 'not needed' : milliseconds(ms)]),
      )}
    />
  );
}

function Headers({ headers, label }: { headers: [string, string][]; label: string }) {
  return (
    <section aria-label={label} className={s.box}>
      <header className={s.head}>
        <h3>{label}</h3>
        <CopyButton
          value={headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
          label={`Copy ${label}`}
        />
      </header>
      <dl className={s.list}>
        {headers.map(([name, value], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a name may come twice
          <div key={index}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

interface SentRequest {
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** The request as a command for a shell, signature and all, so that it can be sent to a receiver under repair. */
const toCurl = ({ url, headers, body }: SentRequest): string =>
  [
    `curl -X POST ${shellQuoted(url)}`,
    ...headers
      .filter(([name]) => !/^(?:host|content-length|connection)$/i.test(name))
      .map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    `--data-raw ${shellQuoted(body)}`,
  ].join(' \\\n  ');
