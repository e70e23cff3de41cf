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
                label: 'Requests per minute',
                value: `${limits.read} read, ${limits.write} write, ${limits.admin} for webhooks and tests`,
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
