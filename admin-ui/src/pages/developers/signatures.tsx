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
