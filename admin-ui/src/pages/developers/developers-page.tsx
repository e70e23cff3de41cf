import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useMutation } from '../../model/client.ts';
import { languages } from '../../model/queries.ts';
import { useBaseUrl, useSession } from '../../model/session.ts';
import { CopyButton } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { Field, Form, PasswordInput, TextArea } from '../../ui/form.tsx';
import { Card, Facts, Grid, Page, Row, Split, Stack } from '../../ui/layout.tsx';
import { Empty, Notice } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { diagnose } from './diagnose.ts';
import { SettingsAsCode } from './settings-as-code.tsx';
import { snippets } from './snippets/index.ts';

export function DevelopersPage() {
  const search = useSearch({ from: '/in/developers' });
  const navigate = useNavigate({ from: '/developers' });
  const tab = search.tab ?? 'start';
  return (
    <Page
      title="Developers"
      description={
        <>
          Call the API, and verify the webhooks you receive. Every operation is in the{' '}
          <a href="/docs">reference</a>, every rule in the <a href="/docs/contract">contract</a>. Tools read{' '}
          <a href="/api/v1/openapi.json" download>
            openapi.json
          </a>
          .
        </>
      }
    >
      <Tabs
        label="Topics"
        value={tab}
        onChange={(next) => void navigate({ search: { ...search, tab: next } })}
        tabs={[
          { id: 'start', label: 'Quick start' },
          { id: 'signatures', label: 'Check signatures' },
          { id: 'checker', label: 'Signature checker' },
          { id: 'settings', label: 'Settings as code' },
        ]}
      >
        {tab === 'start' && <QuickStart />}
        {tab === 'signatures' && <Signatures />}
        {tab === 'checker' && <SignatureChecker />}
        {tab === 'settings' && <SettingsAsCode />}
      </Tabs>
    </Page>
  );
}

function QuickStart() {
  const baseUrl = useBaseUrl();
  const { keyPrefix, company, limits } = useSession();
  const { read, write, admin } = limits;
  return (
    <Split
      aside={
        <Card title="Good to know">
          <Facts
            columns={14}
            facts={[
              {
                label: 'Base URL',
                value: (
                  <Row gap="xs" nowrap justify="space-between">
                    <code>{baseUrl}</code>
                    <CopyButton value={baseUrl} label="Copy base URL" />
                  </Row>
                ),
              },
              { label: 'Your keys begin with', value: <code>{`${keyPrefix}_${company.id}_`}</code> },
              {
                label: 'Requests per minute',
                value: `${read} read, ${write} write, ${admin} for webhooks and tests`,
              },
              {
                label: 'Over the limit',
                value: (
                  <>
                    Requests get status 429. Every response carries <code>X-RateLimit-Remaining</code>.
                  </>
                ),
              },
              {
                label: 'Safe retries',
                value: (
                  <>
                    Send an <code>external_id</code>: repeating it updates the record instead of creating a
                    second one.
                  </>
                ),
              },
            ]}
          />
        </Card>
      }
    >
      <Card title="Create your first lead">
        <Stack>
          <p>
            Create an <Link to="/keys">API key</Link> that can create and change records, set it as{' '}
            <code>CAUSEWAY_KEY</code> in the environment, and run this. It is safe to run again.
          </p>
          <SnippetTabs kind="start" />
        </Stack>
      </Card>
    </Split>
  );
}

function Signatures() {
  return (
    <Split
      aside={
        <Card title="What is signed">
          <Stack>
            <p>
              HMAC-SHA-256 over the timestamp, a dot and the body, keyed with the whole signing secret,{' '}
              <code>whsec_</code> included.
            </p>
            <Facts
              columns={14}
              facts={[
                { label: 'X-Webhook-Timestamp', value: 'Time of sending, in seconds since 1970' },
                {
                  label: 'X-Webhook-Signature',
                  value: (
                    <>
                      <code>sha256=</code> and the hash in hexadecimal; two, separated by a comma, during a
                      secret rotation
                    </>
                  ),
                },
                {
                  label: 'X-Webhook-Id',
                  value: 'The event ID; the same in every attempt, so that you can skip duplicates',
                },
                {
                  label: 'webhook-id, webhook-timestamp, webhook-signature',
                  value: 'The same for verifiers of Standard Webhooks',
                },
              ]}
            />
            <p>
              Signature does not match? The{' '}
              <Link to="/developers" search={{ tab: 'checker' }}>
                signature checker
              </Link>{' '}
              finds the reason.
            </p>
          </Stack>
        </Card>
      }
    >
      <Card title="A receiver that checks signatures">
        <Stack>
          <p>
            Anyone can post to your receiver’s URL. The signature proves that a delivery comes from this
            service and was not changed. Set the subscription’s secret as <code>WEBHOOK_SECRET</code> in the
            environment.
          </p>
          <SnippetTabs kind="verify" />
        </Stack>
      </Card>
    </Split>
  );
}

function SnippetTabs({ kind }: { readonly kind: 'start' | 'verify' }) {
  const search = useSearch({ from: '/in/developers' });
  const navigate = useNavigate({ from: '/developers' });
  const baseUrl = useBaseUrl();
  const language = search.language ?? (kind === 'start' ? 'bash' : 'node');
  const { label } = snippets[language];
  return (
    <Tabs
      label="Languages"
      value={language}
      onChange={(next) => void navigate({ search: { ...search, language: next }, replace: true })}
      tabs={languages.map((id) => ({
        id,
        label: id === 'bash' && kind === 'verify' ? 'bash' : snippets[id].label,
      }))}
    >
      <CodeBlock
        code={snippets[language][kind].replaceAll('__BASE_URL__', baseUrl).trimEnd()}
        language="code"
        label={`program in ${label}`}
        maxLines={60}
      />
    </Tabs>
  );
}

function SignatureChecker() {
  const [secret, setSecret] = useState('');
  const [headers, setHeaders] = useState('');
  const [body, setBody] = useState('');
  const check = useMutation({
    mutationFn: () => diagnose({ secret, headers, body, now: Date.now() }),
    gcTime: 0,
  });
  if (!globalThis.crypto?.subtle)
    return <Notice tone="warn">This works only over https or on localhost.</Notice>;
  return (
    <Grid min={24}>
      <Card
        title="A delivery as your receiver got it"
        description="Runs in this browser: nothing you paste is sent or stored."
      >
        <Form mutation={check} submit="Check signature">
          <Field label="Signing secret" hint="Whole, with whsec_.">
            <PasswordInput autoComplete="off" value={secret} onValue={setSecret} />
          </Field>
          <Field label="Headers" hint="One per line. Those starting with X-Webhook- or webhook- are enough.">
            <TextArea
              mono
              rows={5}
              spellCheck={false}
              placeholder={'X-Webhook-Timestamp: 1768469400\nX-Webhook-Signature: sha256=…'}
              value={headers}
              onValue={setHeaders}
            />
          </Field>
          <Field label="Body" hint="The raw bytes, exactly as received.">
            <TextArea
              mono
              rows={7}
              spellCheck={false}
              placeholder={'{"id":90071,"type":"client.created",…}'}
              value={body}
              onValue={setBody}
            />
          </Field>
        </Form>
      </Card>
      <Card title="Result">
        <div aria-live="polite">
          {check.data ? (
            <Stack gap="s">
              {check.data.map((finding) => (
                <Notice key={finding.title} tone={finding.tone} title={finding.title}>
                  {finding.advice}
                </Notice>
              ))}
            </Stack>
          ) : (
            <Empty title="Nothing checked yet">
              Paste the secret, the headers and the body of one delivery. What was sent is on the delivery’s
              page, under “Request as sent”; what arrived is in your receiver’s logs.
            </Empty>
          )}
        </div>
      </Card>
    </Grid>
  );
}
