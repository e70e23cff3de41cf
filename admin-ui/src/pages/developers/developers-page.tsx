import { useBaseUrl, useSession } from '../../model/session.ts';
import { CopyButton } from '../../ui/button.tsx';
import { Card, Facts, Page, Row } from '../../ui/layout.tsx';
import { SettingsAsCode } from './settings-as-code.tsx';

export function DevelopersPage() {
  const baseUrl = useBaseUrl();
  const { keyPrefix, company, limits } = useSession();
  const { read, write, admin } = limits;
  return (
    <Page
      title="Developers"
      description={
        <>
          Every operation is in the <a href="/docs">reference</a>, every rule in the{' '}
          <a href="/docs/contract">contract</a>; a receiver in your language is in{' '}
          <a href="/docs/webhooks">Receive and verify a webhook</a>. Tools read{' '}
          <a href="/api/v1/openapi.json" download>
            openapi.json
          </a>
          .
        </>
      }
    >
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
          ]}
        />
      </Card>
      <SettingsAsCode />
    </Page>
  );
}
