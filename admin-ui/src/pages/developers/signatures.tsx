import { Link } from '@tanstack/react-router';
import { Card } from '../../ui/card.tsx';
import { Facts, Split, Stack } from '../../ui/layout.tsx';
import { SnippetTabs } from './snippet-tabs.tsx';

export function Signatures() {
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
                { label: 'X-Webhook-Timestamp', value: 'When it was sent: seconds since 1970' },
                {
                  label: 'X-Webhook-Signature',
                  value: (
                    <>
                      <code>sha256=</code> and the hash in hexadecimal; two of them, with a comma between,
                      while a secret is renewed
                    </>
                  ),
                },
                {
                  label: 'X-Webhook-Id',
                  value: 'The event; the same in every attempt, so that you can pass over one you had',
                },
                {
                  label: 'webhook-id, webhook-timestamp, webhook-signature',
                  value: 'The same for verifiers of Standard Webhooks',
                },
              ]}
            />
            <p>
              It does not match? The{' '}
              <Link to="/developers" search={{ tab: 'checker' }}>
                signature checker
              </Link>{' '}
              says which part is wrong.
            </p>
          </Stack>
        </Card>
      }
    >
      <Card title="A receiver that checks signatures">
        <Stack>
          <p>
            Anybody can post to your receiver’s address. The signature shows that a delivery comes from here
            and was not changed. Put the subscription’s secret into the environment as{' '}
            <code>WEBHOOK_SECRET</code>.
          </p>
          <SnippetTabs kind="verify" />
        </Stack>
      </Card>
    </Split>
  );
}
