import { Link } from '@tanstack/react-router';
import { useBaseUrl, useSession } from '../../app/session.ts';
import { Card } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Facts, Row, Split, Stack } from '../../ui/layout.tsx';
import { SnippetTabs } from './snippet-tabs.tsx';

export function QuickStart() {
  const baseUrl = useBaseUrl();
  const { keyPrefix, company, limits } = useSession();
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
                label: 'Requests a minute',
                value: `${limits.read} reading, ${limits.write} writing, ${limits.admin} for webhooks and tests`,
              },
              {
                label: 'Over the limit',
                value: (
                  <>
                    Answered with 429. <code>X-RateLimit-Remaining</code> on every answer says what is left.
                  </>
                ),
              },
              {
                label: 'Sent twice?',
                value: (
                  <>
                    Give records an <code>external_id</code>: the same one again updates the record instead of
                    making a second.
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
            Make an <Link to="/keys">API key</Link> that may create and change records, put it into the
            environment as <code>CAUSEWAY_KEY</code>, and run this. It can be run again safely.
          </p>
          <SnippetTabs kind="start" />
        </Stack>
      </Card>
    </Split>
  );
}
