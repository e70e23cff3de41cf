import { useQuery } from '@tanstack/react-query';
import { call } from '../../model/client.ts';
import { keysQuery, subscriptionsQuery } from '../../model/queries.ts';
import type { ApiKey } from '../../model/scopes.ts';
import { useBaseUrl, useSession } from '../../model/session.ts';
import { Button, CopyButton } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { Card, Facts, Page, Row, SkeletonCard, Stack } from '../../ui/layout.tsx';
import { save } from '../../ui/save.ts';
import { Loaded } from '../../ui/states.tsx';
import { Agents } from './agents.tsx';
import { ImportSettings } from './import-settings.tsx';
import { type Present, settingsOf } from './settings.ts';

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
      <Agents />
      <SettingsAsCode />
    </Page>
  );
}

function SettingsAsCode() {
  const query = useQuery(presentQuery);
  const baseUrl = useBaseUrl();
  return (
    <Loaded query={query} skeleton={<SkeletonCard lines={14} />}>
      {(present) => {
        const schema = new URL('/docs/settings.schema.json', baseUrl).href;
        const json = JSON.stringify(settingsOf(present, schema), null, 2);
        return (
          <Stack>
            <Card
              title="Subscriptions and keys as JSON"
              description="The subscriptions that no tool manages, and the active keys, always in the same order: keep the file under version control to see what changed. It has no signing secret, no key and no header value."
              actions={
                <Button onClick={() => save('causeway-settings.json', `${json}\n`)}>Download JSON</Button>
              }
            >
              <CodeBlock code={json} language="json" label="settings" />
            </Card>
            <ImportSettings readPresent={readPresent} />
          </Stack>
        );
      }}
    </Loaded>
  );
}

const readPresent = async (signal?: AbortSignal): Promise<Present> => {
  const [{ subscriptions }, keys] = await Promise.all([
    call('listPortalSubscriptions', {}, signal),
    activeKeys(signal),
  ]);
  return { subscriptions, keys };
};

const presentQuery = {
  queryKey: [...subscriptionsQuery.queryKey, ...keysQuery.queryKey, 'settings'],
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => readPresent(signal),
  // A key that was made a moment ago is in the export.
  staleTime: 0,
};

const activeKeys = async (signal: AbortSignal | undefined): Promise<readonly ApiKey[]> => {
  const all: ApiKey[] = [];
  let cursor: string | undefined;
  do {
    const page = await call('listApiKeys', { query: { state: 'active', limit: 200, cursor } }, signal);
    all.push(...page.keys);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return all;
};
