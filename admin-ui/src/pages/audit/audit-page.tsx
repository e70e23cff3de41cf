import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { operationQuery } from '../../api/query.ts';
import { nameOfMember, useRefusal } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Failed } from '../../ui/failed.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { teamQuery } from '../team/queries.ts';
import s from './audit-page.module.css';
import { columns } from './columns.tsx';
import { actionWords, kindWords } from './words.ts';

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
      query: { action: filters.action, targetKind: filters.kind, userId: filters.user, cursor },
    }),
    placeholderData: keepPreviousData,
  });
  const next = query.data?.hasMore ? query.data.nextCursor : null;
  const set = (change: typeof filters): void =>
    void navigate({ search: { ...filters, ...change }, replace: true });
  const filtered = Object.values(filters).some((value) => value !== undefined);
  return (
    <Card flush>
      <search className={s.filters} aria-label="Filters">
        <Field label="Kind" hideLabel>
          <Select
            value={filters.kind ?? ''}
            onChange={(event) => set({ kind: event.target.value || undefined })}
          >
            <option value="">Everything</option>
            {Object.entries(kindWords).map(([kind, label]) => (
              <option key={kind} value={kind}>
                {label}
              </option>
            ))}
          </Select>
        </Field>
        <Field label="Action" hideLabel>
          <Select
            value={filters.action ?? ''}
            onChange={(event) => set({ action: event.target.value || undefined })}
          >
            <option value="">Any action</option>
            {Object.keys(actionWords).map((action) => (
              <option key={action} value={action}>
                {action}
              </option>
            ))}
          </Select>
        </Field>
        <Field label="Member" hideLabel>
          <Select
            value={filters.user ?? ''}
            onChange={(event) =>
              set({ user: event.target.value === '' ? undefined : Number(event.target.value) })
            }
          >
            <option value="">Anyone</option>
            {members.map((member) => (
              <option key={member.id} value={member.id}>
                {nameOfMember(member)}
              </option>
            ))}
          </Select>
        </Field>
      </search>
      {query.isError && !query.data ? (
        <Failed error={query.error} retry={() => void query.refetch()} />
      ) : (
        <Table
          label="Audit log"
          columns={columns}
          rows={query.data?.entries}
          rowKey={(entry) => entry.id}
          skeletonRows={10}
          emptyState={
            <Empty
              icon={<ScrollText />}
              title={filtered ? 'No entries match' : 'No changes yet'}
              action={
                filtered && <Button onClick={() => void navigate({ search: {} })}>Clear all filters</Button>
              }
            >
              Every change to keys, subscriptions, members and settings is recorded here.
            </Empty>
          }
        />
      )}
      <Pager
        onFirst={cursor === undefined ? null : () => void navigate({ search: filters })}
        onNext={next === null ? null : () => void navigate({ search: { ...filters, cursor: next } })}
      />
    </Card>
  );
}
