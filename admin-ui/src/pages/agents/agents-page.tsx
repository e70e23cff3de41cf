import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { CreateKey } from '../../model/create-key.tsx';
import { agentPrograms } from '../../model/queries.ts';
import { useBaseUrl, useRefusal, useSession } from '../../model/session.ts';
import { Button, CopyButton } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { Card, Facts, Page, Row, Split, Stack } from '../../ui/layout.tsx';
import { Tabs } from '../../ui/tabs.tsx';

export function AgentsPage() {
  const { read, write, admin } = useSession().limits;
  const address = useBaseUrl().replace(/\/api\/v1$/, '/mcp');
  const { dialog, ...search } = useSearch({ from: '/in/agents' });
  const navigate = useNavigate({ from: '/agents' });
  const mayCreate = useRefusal('developer') === undefined;
  const [key, setKey] = useState<string>();
  return (
    <Page
      title="Agents"
      description="Let an AI agent read and change records, through the Model Context Protocol, with an API key of its own."
    >
      <Split
        aside={
          <Card title="What an agent can do">
            <Facts
              columns={14}
              facts={[
                {
                  label: 'Address',
                  value: (
                    <Row gap="xs" nowrap justify="space-between">
                      <code>{address}</code>
                      <CopyButton value={address} label="Copy address" />
                    </Row>
                  ),
                },
                {
                  label: 'Tools',
                  value: 'One for each operation that the permissions of its key allow; it sees no others.',
                },
                {
                  label: 'Requests per minute',
                  value: `${read} read, ${write} write, ${admin} for webhooks and tests, shared with other uses of the same key`,
                },
                {
                  label: 'Texts in records',
                  value:
                    'A client’s name or a note may hold instructions that somebody wrote for agents. Give an agent that reads them no more permissions than it needs.',
                },
                { label: 'To stop it', value: 'Revoke its key. It takes effect at once.' },
              ]}
            />
          </Card>
        }
      >
        <Card title="Connect an agent">
          <Stack>
            <p>Create an API key for the agent, with only the permissions it needs.</p>
            <Row>
              <NewKeyButton preset="agent-read">Create read-only key</NewKeyButton>
              <NewKeyButton preset="agent-write">Create read and write key</NewKeyButton>
            </Row>
            <p>Then add this server to the agent’s program.</p>
            <Configurations address={address} apiKey={key} />
          </Stack>
        </Card>
      </Split>
      <CreateKey
        open={dialog !== undefined && mayCreate}
        preset={dialog}
        onClose={() => void navigate({ search, replace: true })}
        onMade={setKey}
      />
    </Page>
  );
}

interface NewKeyButtonProps {
  readonly preset: 'agent-read' | 'agent-write';
  readonly children: string;
}

/** Opens the form for a new key, filled in. */
function NewKeyButton({ preset, children }: NewKeyButtonProps) {
  const navigate = useNavigate({ from: '/agents' });
  return (
    <Button
      disabledReason={useRefusal('developer')}
      onClick={() => void navigate({ search: (now) => ({ ...now, dialog: preset }) })}
    >
      {children}
    </Button>
  );
}

interface ConfigurationsProps {
  readonly address: string;
  /** Made a moment ago. */
  readonly apiKey: string | undefined;
}

function Configurations({ address, apiKey }: ConfigurationsProps) {
  const search = useSearch({ from: '/in/agents' });
  const navigate = useNavigate({ from: '/agents' });
  const program = search.program ?? 'claude-code';
  const { label, where, text } = configurations[program];
  return (
    <Tabs
      label="Programs"
      value={program}
      onChange={(next) => void navigate({ search: { ...search, program: next }, replace: true })}
      tabs={agentPrograms.map((id) => ({ id, label: configurations[id].label }))}
    >
      <CodeBlock
        code={text(address, apiKey)}
        title={where}
        label={`configuration for ${label}`}
        language="code"
      />
    </Tabs>
  );
}

interface Configuration {
  readonly label: string;
  readonly where: string;
  readonly text: (address: string, apiKey?: string) => string;
}

const json = (value: object): string => JSON.stringify(value, null, 2);

const configurations: Readonly<Record<(typeof agentPrograms)[number], Configuration>> = {
  'claude-code': {
    label: 'Claude Code',
    where: 'In a terminal',
    text: (address, apiKey = 'YOUR_API_KEY') =>
      `claude mcp add --transport http causeway ${address} \\\n  --header "Authorization: Bearer ${apiKey}"`,
  },
  cursor: {
    label: 'Cursor',
    where: '.cursor/mcp.json, with the key as CAUSEWAY_KEY in the environment',
    text: (url) =>
      json({
        mcpServers: { causeway: { url, headers: { Authorization: `Bearer \${env:CAUSEWAY_KEY}` } } },
      }),
  },
  vscode: {
    label: 'VS Code',
    where: '.vscode/mcp.json; VS Code asks for the key',
    text: (url) =>
      json({
        // VS Code asks for it once, and keeps it in its own secret store.
        inputs: [
          { type: 'promptString', id: 'causeway-key', description: 'Causeway API key', password: true },
        ],
        servers: {
          causeway: { type: 'http', url, headers: { Authorization: `Bearer \${input:causeway-key}` } },
        },
      }),
  },
};
