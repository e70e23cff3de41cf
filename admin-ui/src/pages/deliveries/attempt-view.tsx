import { ph, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { type ReactNode, useState } from 'react';
import type { Answer } from '../../api/client.ts';
import { onFirstUse } from '../../i18n/i18n.tsx';
import { CopyButton } from '../../ui/button.tsx';
import { CodeBlock, prettyJson } from '../../ui/code.tsx';
import { bytes, milliseconds, shellQuoted } from '../../ui/format.ts';
import { Facts, Quiet, Row, Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Badge } from '../../ui/values.tsx';
import s from './attempt-view.module.css';
import { causeOf } from './causes.ts';

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
        label={t`Parts of the attempt`}
        value={tab}
        onChange={setTab}
        tabs={[
          { id: 'response', label: t`Response` },
          { id: 'request', label: t`Request as sent` },
          { id: 'timings', label: t`Timings` },
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
      {statusCode ?? (errorClass === null ? t`No answer` : classLabels()[errorClass])}
    </Badge>
  );
}

export const classLabels = onFirstUse(
  (): Readonly<Record<NonNullable<Attempt['errorClass']>, string>> => ({
    dns: t`Host not found`,
    connect: t`No connection`,
    tls: t`TLS failed`,
    timeout: t`Timed out`,
    reset: t`Connection lost`,
    redirect: t`Redirect`,
    blocked_address: t`Blocked address`,
    status: t`Refused`,
  }),
);

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
            <Trans>
              to <code>{ph({ address: attempt.address })}</code>
            </Trans>
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
        <Notice tone="good">{t`The receiver accepted the delivery.`}</Notice>
      )}
    </Stack>
  );
}

function Response({ response }: { readonly response: Attempt['response'] }) {
  if (!response) return <p>{t`No response.`}</p>;
  return (
    <Stack>
      {response.body === '' ? (
        <Quiet>{t`The response had no body.`}</Quiet>
      ) : (
        <CodeBlock
          code={prettyJson(response.body)}
          raw={response.body}
          language={/^\s*[[{]/.test(response.body) ? 'json' : 'text'}
          label={t`response body`}
          title={response.bodyBase64 ? t`Body, as base64 (not text)` : t`Body`}
          wrap
        />
      )}
      {response.truncated && <Quiet small>{t`The body was longer; only its beginning is stored.`}</Quiet>}
      <Headers headers={response.headers} label={t`Response headers`} />
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
          <CopyButton value={() => toCurl({ ...request, body })} label={t`Copy as curl`} variant="secondary">
            {t`Copy as curl`}
          </CopyButton>
        )}
      </Row>
      {body === null ? (
        <Quiet>{t`The event was deleted after its retention time, so its body is gone.`}</Quiet>
      ) : (
        <CodeBlock
          code={prettyJson(body)}
          raw={body}
          language="json"
          label={t`request body`}
          title={t`Body as signed and sent (${{ size: bytes(new TextEncoder().encode(body).length) }})`}
          wrap
        />
      )}
      <Headers headers={request.headers} label={t`Request headers`} />
      <Facts
        facts={[
          { label: t`Signed text`, value: <code>{`${request.timestamp}.<body>`}</code> },
          { label: t`Signature`, value: <code>{request.signature}</code> },
        ]}
      />
    </Stack>
  );
}

function Timings({
  attempt: { timings, elapsedMs },
}: {
  readonly attempt: Pick<Answer<'testPortalSubscription'>, 'timings' | 'elapsedMs'>;
}) {
  const { dnsMs, connectMs, tlsMs, firstByteMs } = timings;
  const setUp = (dnsMs ?? 0) + (connectMs ?? 0) + (tlsMs ?? 0);
  const wait = firstByteMs === null ? null : Math.max(firstByteMs - setUp, 0);
  const steps = [
    { label: t`DNS lookup`, ms: dnsMs },
    { label: t`Connect`, ms: connectMs },
    { label: t`TLS handshake`, ms: tlsMs },
    { label: t`Wait for response`, ms: wait },
    { label: t`Read response`, ms: firstByteMs === null ? null : Math.max(elapsedMs - firstByteMs, 0) },
  ];
  let start = 0;
  const total = Math.max(elapsedMs, 1);
  return (
    <table className={s.table}>
      <caption className="visually-hidden">{t`Timings of the attempt`}</caption>
      <tbody>
        {steps.map(({ label, ms }) => {
          const from = start;
          start += ms ?? 0;
          return (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td className={s.track}>
                {ms !== null && (
                  <span
                    style={{
                      marginLeft: `${(from / total) * 100}%`,
                      width: `${(Math.min(ms, total - from) / total) * 100}%`,
                    }}
                  />
                )}
              </td>
              <td className={s.value}>{ms === null ? t`not needed` : milliseconds(ms)}</td>
            </tr>
          );
        })}
        <tr className={s.total}>
          <th scope="row">{t`Total`}</th>
          <td className={s.track} />
          <td className={s.value}>{milliseconds(elapsedMs)}</td>
        </tr>
      </tbody>
    </table>
  );
}

function Headers({ headers, label }: { headers: [string, string][]; label: string }) {
  return (
    <section aria-label={label} className={s.box}>
      <header className={s.head}>
        <h3>{label}</h3>
        <CopyButton
          value={headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
          label={t`Copy ${label}`}
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
