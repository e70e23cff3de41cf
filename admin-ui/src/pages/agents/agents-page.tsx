import { t } from '@lingui/core/macro';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Answer } from '../../api/client.ts';
import { useBaseUrl, useRefusal, useSession } from '../../app/session.ts';
import { onFirstUse } from '../../i18n/i18n.tsx';
import { Button, CopyButton } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { number } from '../../ui/format.ts';
import { Card, Facts, Page, Row, Split, Stack } from '../../ui/layout.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { agentCallsQuery, agentPrograms, type KeyPresetName } from '../queries.ts';

export function AgentsPage() {
  const { read, write, admin } = useSession().limits;
  const address = useBaseUrl().replace(/\/api\/v1$/, '/mcp');
  return (
    <Page
      title={t`Agents`}
      description={t`Let an AI agent read and change records, through the Model Context Protocol, with an API key of its own.`}
    >
      <Split
        aside={
          <Card title={t`What an agent can do`}>
            <Facts
              columns={14}
              facts={[
                {
                  label: t`Address`,
                  value: (
                    <Row gap="xs" nowrap justify="space-between">
                      <code>{address}</code>
                      <CopyButton value={address} label={t`Copy address`} />
                    </Row>
                  ),
                },
                {
                  label: t`Tools`,
                  value: t`One for each operation that the permissions of its key allow; it sees no others.`,
                },
                {
                  label: t`Requests per minute`,
                  value: t`${read} read, ${write} write, ${admin} for webhooks and tests, shared with other uses of the same key`,
                },
                {
                  label: t`Texts in records`,
                  value: t`A client’s name or a note may hold instructions that somebody wrote for agents. Give an agent that reads them no more permissions than it needs.`,
                },
                { label: t`To stop it`, value: t`Revoke its key. It takes effect at once.` },
              ]}
            />
          </Card>
        }
      >
        <Card title={t`Connect an agent`}>
          <Stack>
            <p>{t`Create an API key for the agent, with only the permissions it needs.`}</p>
            <Row>
              <NewKeyButton preset="agent-read">{t`Create read-only key`}</NewKeyButton>
              <NewKeyButton preset="agent-write">{t`Create read and write key`}</NewKeyButton>
            </Row>
            <p>{t`Then add this server to the agent’s program.`}</p>
            <Configurations address={address} />
          </Stack>
        </Card>
        <Calls />
      </Split>
    </Page>
  );
}

interface NewKeyButtonProps {
  readonly preset: KeyPresetName;
  readonly children: string;
}

/** Opens the form for a new key, filled in. */
function NewKeyButton({ preset, children }: NewKeyButtonProps) {
  const navigate = useNavigate();
  return (
    <Button
      disabledReason={useRefusal('developer')}
      onClick={() => void navigate({ to: '/keys', search: { dialog: 'create', preset } })}
    >
      {children}
    </Button>
  );
}

function Calls() {
  const calls = useQuery(agentCallsQuery);
  return (
    <Card flush title={t`Calls of the last 24 hours`} description={t`By tool, the busiest first.`}>
      <Table
        query={calls}
        label={t`Calls by tool`}
        columns={callColumns()}
        rows={calls.data?.tools}
        rowKey={({ tool }) => tool}
        skeletonRows={3}
        emptyState={
          <Empty title={t`No calls yet`}>
            {t`The tools that agents call are counted here within seconds.`}
          </Empty>
        }
      />
    </Card>
  );
}

const callColumns = onFirstUse((): readonly Column<Answer<'getAgentCalls'>['tools'][number]>[] => [
  { header: t`Tool`, grow: true, cell: ({ tool }) => <code>{tool}</code> },
  { header: t`Succeeded`, align: 'end', cell: ({ answered }) => number(answered) },
  { header: t`Refused or failed`, align: 'end', cell: ({ refused }) => number(refused) },
]);

function Configurations({ address }: { readonly address: string }) {
  const search = useSearch({ from: '/in/agents' });
  const navigate = useNavigate({ from: '/agents' });
  const program = search.program ?? 'claude-code';
  const { label, where, text } = configurations()[program];
  return (
    <Tabs
      label={t`Programs`}
      value={program}
      onChange={(next) => void navigate({ search: { ...search, program: next }, replace: true })}
      tabs={agentPrograms.map((id) => ({ id, label: configurations()[id].label }))}
    >
      <CodeBlock code={text(address)} title={where} label={t`configuration for ${label}`} language="code" />
    </Tabs>
  );
}

interface Configuration {
  readonly label: string;
  readonly where: string;
  readonly text: (address: string) => string;
}

const json = (value: object): string => JSON.stringify(value, null, 2);

const configurations = onFirstUse(
  (): Readonly<Record<(typeof agentPrograms)[number], Configuration>> => ({
    'claude-code': {
      label: t`Claude Code`,
      where: t`In a terminal where CAUSEWAY_KEY holds the key`,
      text: (address) =>
        `claude mcp add --transport http causeway ${address} \\\n  --header "Authorization: Bearer $CAUSEWAY_KEY"`,
    },
    cursor: {
      label: t`Cursor`,
      where: '.cursor/mcp.json, with the key as CAUSEWAY_KEY in the environment',
      text: (url) =>
        json({
          mcpServers: { causeway: { url, headers: { Authorization: `Bearer \${env:CAUSEWAY_KEY}` } } },
        }),
    },
    vscode: {
      label: t`VS Code`,
      where: '.vscode/mcp.json; VS Code asks for the key',
      text: (url) =>
        json({
          // VS Code asks for it once, and keeps it in its own secret store.
          inputs: [
            { type: 'promptString', id: 'causeway-key', description: t`Causeway API key`, password: true },
          ],
          servers: {
            causeway: { type: 'http', url, headers: { Authorization: `Bearer \${input:causeway-key}` } },
          },
        }),
    },
  }),
);
