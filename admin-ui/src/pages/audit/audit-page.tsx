import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { operationQuery } from '../../api/query.ts';
import { nameOfMember } from '../../app/name-of-member.ts';
import { useRefusal } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Empty, OrError } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Filter, SearchBox, Toolbar } from '../../ui/toolbar.tsx';
import { teamQuery } from '../team/queries.ts';
import { columns } from './columns.tsx';
import { actionOptions, kindOptions } from './words.ts';

export function AuditPage() {
  const refusal = useRefusal('admin');
  return (
    <Page
      title="Audit log"
      description="Who changed what, when and from where. Entries cannot be changed and contain no secrets."
    >
      {refusal ? <Notice tone="info">{refusal}</Notice> : <Log />}
    </Page>
  );
}

function Log() {
  const { cursor, ...filters } = useSearch({ from: '/in/audit' });
  const navigate = useNavigate({ from: '/audit' });
  const members = useQuery(teamQuery).data?.members ?? [];
  const query = useQuery({
    ...operationQuery('listAudit', {
      query: {
        q: filters.q,
        action: filters.action,
        targetKind: filters.kind,
        userId: filters.user,
        cursor,
      },
    }),
    placeholderData: keepPreviousData,
  });
  const set = (change: typeof filters): void =>
    void navigate({ search: { ...filters, ...change }, replace: true });
  const open = (to: string | undefined): void => void navigate({ search: { ...filters, cursor: to } });
  const filtered = Object.values(filters).some((value) => value !== undefined);
  return (
    <Card flush>
      <Toolbar>
        <SearchBox label="Search the audit log" value={filters.q} onChange={(q) => set({ q })} />
        <Filter
          label="Kind"
          all="Everything"
          value={filters.kind}
          options={kindOptions}
          onChange={(kind) => set({ kind })}
        />
        <Filter
          label="Action"
          all="Any action"
          value={filters.action}
          options={actionOptions}
          onChange={(action) => set({ action })}
        />
        <Filter
          label="Member"
          all="Anyone"
          value={filters.user?.toString()}
          options={members.map((member) => ({ value: String(member.id), label: nameOfMember(member) }))}
          onChange={(user) => set({ user: user === undefined ? undefined : Number(user) })}
        />
      </Toolbar>
      <OrError query={query}>
        <Table
          label="Audit log"
          columns={columns}
          rows={query.data?.entries}
          rowKey={(entry) => entry.id}
          skeletonRows={10}
          emptyState={
            query.data?.hasMore ? (
              <Empty
                icon={<ScrollText />}
                title="No entry matches so far"
                action={
                  <Button onClick={() => open(query.data?.nextCursor ?? undefined)}>
                    Search older entries
                  </Button>
                }
              />
            ) : filtered ? (
              <Empty
                icon={<ScrollText />}
                title="No entries match"
                action={<Button onClick={() => void navigate({ search: {} })}>Clear all filters</Button>}
              />
            ) : (
              <Empty icon={<ScrollText />} title="No changes yet">
                Every change to keys, subscriptions, members and settings is recorded here.
              </Empty>
            )
          }
        />
      </OrError>
      <Pager cursor={cursor} page={query.data} onPage={open} />
    </Card>
  );
}
