import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../model/client.ts';
import { CreateKey } from '../../model/create-key.tsx';
import { keyPresetNames, keysQuery, subscriptionsQuery } from '../../model/queries.ts';
import type { ApiKey } from '../../model/scopes.ts';
import { useBaseUrl, useRefusal, useSession } from '../../model/session.ts';
import { Button, CopyButton } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { save } from '../../ui/csv.ts';
import { useDialog } from '../../ui/dialog-button.tsx';
import { Card, Facts, Page, Quiet, Row, Stack } from '../../ui/layout.tsx';
import { Loaded } from '../../ui/states.tsx';
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
          facts={{
            'Base URL': (
              <Row gap="xs" nowrap justify="space-between">
                <code>{baseUrl}</code>
                <CopyButton value={baseUrl} label="Copy base URL" />
              </Row>
            ),
            'Your keys begin with': <code>{`${keyPrefix}_${company.id}_`}</code>,
            'Requests per minute': `${read} read, ${write} write, ${admin} for webhooks and tests`,
          }}
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
    <Loaded query={query}>
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

/** A key for an agent, and what its program needs, with the key in it. */
export function Agents() {
  const address = useBaseUrl().replace(/\/api\/v1$/, '/mcp');
  const { dialog, open, close } = useDialog();
  const preset = keyPresetNames.find((name) => name === dialog);
  const refusal = useRefusal('developer');
  const [key = 'YOUR_API_KEY', setKey] = useState<string>();
  const Authorization = `Bearer ${key}`;
  return (
    <Card
      title="AI agents"
      description="An agent reads and changes records through the Model Context Protocol, with an API key of its own: it has a tool for each operation that the key allows. Revoke the key to stop it."
      actions={
        <Row>
          <Button disabledReason={refusal} onClick={() => open('agent-read')}>
            Create read-only key
          </Button>
          <Button disabledReason={refusal} onClick={() => open('agent-write')}>
            Create read and write key
          </Button>
        </Row>
      }
    >
      <CodeBlock
        code={`claude mcp add --transport http causeway ${address} \\\n  --header "Authorization: ${Authorization}"`}
        title="Claude Code, in a terminal"
        label="configuration for Claude Code"
        language="text"
      />
      <CodeBlock
        code={JSON.stringify(
          { mcpServers: { causeway: { url: address, headers: { Authorization } } } },
          null,
          2,
        )}
        title="Other programs, such as .cursor/mcp.json"
        label="configuration for other programs"
        language="json"
      />
      <Quiet small>
        A client’s name or a note may hold instructions that somebody wrote for agents. Give an agent that
        reads them no more permissions than it needs.
      </Quiet>
      <CreateKey
        open={preset !== undefined && refusal === undefined}
        preset={preset}
        onClose={close}
        onMade={setKey}
      />
    </Card>
  );
}
