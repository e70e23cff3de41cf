import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Ban, Copy, Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { type LimitedKey, useLimitedKeys } from '../../model/attention.ts';
import { CreateKey } from '../../model/create-key.tsx';
import { keySorts, keysPageQuery } from '../../model/queries.ts';
import { type ApiKey, expiresSoon, keyState, permissionsOf, scopeWords } from '../../model/scopes.ts';
import { useRefusal, useSession } from '../../model/session.ts';
import { Button } from '../../ui/button.tsx';
import { useFilters } from '../../ui/filters.ts';
import { plural } from '../../ui/format.ts';
import { Card, Page, Row } from '../../ui/layout.tsx';
import { RowMenu } from '../../ui/menu.tsx';
import { Empty } from '../../ui/states.tsx';
import { actionsColumn, type Column, Pager, Table, timeColumn } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.ts';
import { Filter, SearchBox, Segmented, Toolbar } from '../../ui/toolbar.tsx';
import { Badge, Cut, MinuteAgo, StateBadge, TimeAgo, useNow } from '../../ui/values.tsx';
import { RevokeKey } from './key-dialogs.tsx';

export function KeysPage() {
  const { dialog, preset, revoke, ...search } = useSearch({ from: '/in/keys' });
  const { filters, set, pager } = useFilters(search);
  const { show, q, sort } = filters;
  const navigate = useNavigate({ from: '/keys' });
  const refusal = useRefusal('developer');
  const { read, write } = useSession().limits;
  const limited = useLimitedKeys();
  const keys = useQuery({ ...keysPageQuery(search), placeholderData: keepPreviousData });
  const shown = keys.data?.keys;
  const open = (dialogs: { dialog?: 'create'; revoke?: number }): void =>
    void navigate({ search: { ...search, ...dialogs } });
  const close = (): void => void navigate({ search, replace: true });
  const create = (
    <Button
      variant="primary"
      icon={<Plus />}
      disabledReason={refusal}
      onClick={() => open({ dialog: 'create' })}
    >
      Create API key
    </Button>
  );
  return (
    <Page
      title="API keys"
      description={`Create one key for each tool, so that you can see what it does and revoke it alone. Each key can make ${read} read and ${write} write requests a minute.`}
      actions={create}
      refreshing={keys.isRefetching}
    >
      <Card
        flush
        title={show === 'revoked' ? 'Revoked keys' : 'Active keys'}
        actions={
          <Segmented
            label="Keys"
            value={show ?? 'active'}
            options={[
              { value: 'active', label: 'Active' },
              { value: 'revoked', label: 'Revoked' },
            ]}
            onChange={(value) => set({ show: value === 'active' ? undefined : value })}
          />
        }
      >
        {(shown === undefined || shown.length > 0 || q !== undefined || search.cursor !== undefined) && (
          <Toolbar>
            <SearchBox label="Search keys" value={q} onChange={(q) => set({ q })} />
            <Filter
              label="Order"
              value={sort ?? 'newest'}
              options={sortOptions}
              onChange={(by) => set({ sort: by === 'newest' ? undefined : by })}
            />
          </Toolbar>
        )}
        <KeyTable
          query={keys}
          keys={shown}
          refusal={refusal}
          limited={limited}
          onRevoke={(one) => open({ revoke: one.id })}
          emptyState={
            q !== undefined ? (
              <Empty
                title={show === 'revoked' ? 'No revoked key matches' : 'No active key matches'}
                action={<Button onClick={() => set({ q: undefined })}>Clear search</Button>}
              />
            ) : show === 'revoked' ? (
              <Empty title="No revoked keys">
                Revoked keys stay listed here, so that you can see when they were last used.
              </Empty>
            ) : (
              <Empty title="No API keys yet" action={create}>
                Create a key for the first tool you want to connect, such as Zapier, Make or your website.
              </Empty>
            )
          }
        />
        <Pager
          first={sort === undefined ? 'Newest' : 'First'}
          next={sort === undefined ? 'Older' : 'Next'}
          {...pager}
          page={keys.data}
        />
      </Card>
      <CreateKey open={dialog === 'create' && refusal === undefined} preset={preset} onClose={close} />
      <RevokeKey apiKey={shown?.find((one) => one.id === revoke && one.isActive)} onClose={close} />
    </Page>
  );
}

const sortOptions = (() => {
  const labels = {
    newest: 'Newest first',
    used: 'Last used first',
    unused: 'Least recently used first',
  };
  return keySorts.map((value) => ({ value, label: labels[value] }));
})();

interface KeyTableProps {
  readonly query: UseQueryResult;
  readonly keys: readonly ApiKey[] | undefined;
  readonly refusal: string | undefined;
  readonly limited: readonly LimitedKey[];
  readonly onRevoke: (key: ApiKey) => void;
  readonly emptyState: ReactNode;
}

function KeyTable({ query, keys, refusal, limited, onRevoke, emptyState }: KeyTableProps) {
  const now = useNow();
  const refused = new Map(limited.map((one) => [one.id, one.limited]));
  const columns: readonly Column<ApiKey>[] = [
    {
      header: 'Name',
      phone: 'title',
      grow: true,
      cell: (key) => (
        <Row gap="s">
          <Link to="/keys/$id" params={{ id: key.id }}>
            <Cut strong text={key.name} />
          </Link>
          {refused.has(key.id) && (
            <Badge tone="warn" title="Requests over its rate limit in the last hour">
              {plural(refused.get(key.id) ?? 0, '# refused', '# refused')}
            </Badge>
          )}
          {expiresSoon(key, now) && <StateBadge {...keyState(key, now)} />}
        </Row>
      ),
    },
    { header: 'Key', cell: (key) => <code>{key.masked}</code> },
    {
      header: 'Permissions',
      phone: 'detail',
      grow: true,
      cell: (key) => (
        <span data-tip={key.scopes.map((scope) => scopeWords[scope].label).join(', ')}>
          {permissionsOf(key)}
        </span>
      ),
    },
    { header: 'Last used', phone: 'badge', cell: (key) => <LastUsed apiKey={key} /> },
    timeColumn('Created', (key) => key.createdUtc),
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
      query={query}
      rows={keys}
      rowKey={(key) => key.id}
      emptyState={emptyState}
    />
  );
}

const idleAfterMs = 30 * 86_400_000;

function LastUsed({ apiKey }: { readonly apiKey: ApiKey }) {
  const now = useNow();
  if (apiKey.revokedUtc !== null)
    return (
      <>
        Revoked <TimeAgo time={apiKey.revokedUtc} />
      </>
    );
  if (apiKey.lastUsedUtc === null) return <Badge>Never used</Badge>;
  const age = now - Date.parse(apiKey.lastUsedUtc);
  const isIdle = age > idleAfterMs;
  return (
    <Badge
      tone={age < 86_400_000 ? 'good' : isIdle ? 'warn' : 'neutral'}
      dot
      title={isIdle ? 'Unused for over 30 days. Revoke it if nothing needs it.' : undefined}
    >
      <MinuteAgo time={apiKey.lastUsedUtc} />
    </Badge>
  );
}
