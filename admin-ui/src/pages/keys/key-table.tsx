import { Ban, Copy } from 'lucide-react';
import type { ReactNode } from 'react';
import type { LimitedKey } from '../../app/attention.ts';
import { Badge } from '../../ui/badge.tsx';
import { Cut } from '../../ui/cut.tsx';
import { number } from '../../ui/format.ts';
import { Quiet, Row, Stack } from '../../ui/layout.tsx';
import { RowMenu } from '../../ui/menu.tsx';
import { actionsColumn, type Column, Table } from '../../ui/table.tsx';
import { MinuteAgo, TimeAgo, useNow } from '../../ui/time-ago.tsx';
import { toast } from '../../ui/toast.ts';
import { type ApiKey, scopeWords } from './scopes.ts';

interface KeyTableProps {
  readonly keys: readonly ApiKey[] | undefined;
  readonly refusal: string | undefined;
  /** The row that a link leads to. */
  readonly marked: number | undefined;
  /** Keys that reached a rate limit in the last hour. */
  readonly limited: readonly LimitedKey[];
  readonly onRevoke: (key: ApiKey) => void;
  readonly emptyState: ReactNode;
}

export function KeyTable({ keys, refusal, marked, limited, onRevoke, emptyState }: KeyTableProps) {
  const refused = new Map(limited.map((one) => [one.id, one.limited]));
  const columns: readonly Column<ApiKey>[] = [
    {
      id: 'name',
      header: 'Name',
      phone: 'title',
      grow: true,
      cell: (key) => (
        <Stack gap="xs">
          <Cut strong text={key.name} />
          <Row gap="s">
            <Quiet small>
              <code>{key.masked}</code>
            </Quiet>
            {refused.has(key.id) && (
              <Badge tone="warn" title="Requests over its rate limit in the last hour">
                {number(refused.get(key.id) ?? 0)} refused
              </Badge>
            )}
          </Row>
        </Stack>
      ),
    },
    {
      id: 'scopes',
      header: 'Permissions',
      phone: 'detail',
      grow: true,
      cell: (key) => (
        <Row gap="xs">
          {key.scopes.map((scope) => (
            <Badge key={scope} title={scopeWords[scope].description}>
              {scopeWords[scope].label}
            </Badge>
          ))}
        </Row>
      ),
    },
    { id: 'used', header: 'Last used', phone: 'badge', cell: (key) => <LastUsed apiKey={key} /> },
    {
      id: 'created',
      header: 'Created',
      cell: (key) => <TimeAgo time={key.createdUtc} />,
    },
    actionsColumn('menu', (key) => (
      <RowMenu
        label={key.name}
        actions={[
          {
            label: 'Copy ID',
            icon: <Copy />,
            onSelect: () =>
              void navigator.clipboard?.writeText(String(key.id)).then(() => toast('ID copied')),
          },
          ...(key.isActive
            ? [
                {
                  label: 'Revoke…',
                  icon: <Ban />,
                  danger: true,
                  disabledReason: refusal,
                  onSelect: () => onRevoke(key),
                },
              ]
            : []),
        ]}
      />
    )),
  ];
  return (
    <Table
      label="API keys"
      columns={columns}
      rows={keys}
      rowKey={(key) => key.id}
      selected={(key) => key.id === marked}
      skeletonRows={8}
      emptyState={emptyState}
    />
  );
}

const idleAfterMs = 30 * 86_400_000;

function LastUsed({ apiKey }: { readonly apiKey: ApiKey }) {
  const now = useNow();
  if (apiKey.revokedUtc !== null) {
    return (
      <Stack gap="xs">
        {apiKey.lastUsedUtc === null ? 'Never' : <MinuteAgo time={apiKey.lastUsedUtc} />}
        <Quiet small>
          {' '}
          Revoked <TimeAgo time={apiKey.revokedUtc} />
        </Quiet>
      </Stack>
    );
  }
  if (apiKey.lastUsedUtc === null) return <Badge>Never used</Badge>;
  const age = now - Date.parse(apiKey.lastUsedUtc);
  return (
    <Row gap="s" nowrap>
      <Badge
        tone={age < 86_400_000 ? 'good' : age > idleAfterMs ? 'warn' : 'neutral'}
        dot
        title={
          age > idleAfterMs
            ? `Unused for over ${idleAfterMs / 86_400_000} days. Revoke it if nothing needs it.`
            : undefined
        }
      >
        <MinuteAgo time={apiKey.lastUsedUtc} />
      </Badge>
    </Row>
  );
}
