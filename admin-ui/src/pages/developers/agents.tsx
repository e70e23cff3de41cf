import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { CreateKey } from '../../model/create-key.tsx';
import { useBaseUrl, useRefusal } from '../../model/session.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { Card, Quiet, Row, Stack } from '../../ui/layout.tsx';

/** A key for an agent, and what its program needs, with the key in it. */
export function Agents() {
  const address = useBaseUrl().replace(/\/api\/v1$/, '/mcp');
  const { dialog } = useSearch({ from: '/in/developers' });
  const navigate = useNavigate({ from: '/developers' });
  const refusal = useRefusal('developer');
  const [key = 'YOUR_API_KEY', setKey] = useState<string>();
  const Authorization = `Bearer ${key}`;
  const open = (preset: typeof dialog) => () => void navigate({ search: { dialog: preset } });
  return (
    <Card
      title="AI agents"
      description="An agent reads and changes records through the Model Context Protocol, with an API key of its own: it has a tool for each operation that the key allows. Revoke the key to stop it."
      actions={
        <Row>
          <Button disabledReason={refusal} onClick={open('agent-read')}>
            Create read-only key
          </Button>
          <Button disabledReason={refusal} onClick={open('agent-write')}>
            Create read and write key
          </Button>
        </Row>
      }
    >
      <Stack>
        <CodeBlock
          code={`claude mcp add --transport http causeway ${address} \\\n  --header "Authorization: ${Authorization}"`}
          title="Claude Code, in a terminal"
          label="configuration for Claude Code"
          language="code"
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
      </Stack>
      <CreateKey
        open={dialog !== undefined && refusal === undefined}
        preset={dialog}
        onClose={() => void navigate({ search: {}, replace: true })}
        onMade={setKey}
      />
    </Card>
  );
}
