import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { Download, X } from 'lucide-react';
import { useState } from 'react';
import { EntryText } from '../../model/activity.tsx';
import { actionOptions, type Entry, kindOptions } from '../../model/audit-words.ts';
import { call, useMutation } from '../../model/client.ts';
import { nameOfMember } from '../../model/members.ts';
import { teamQuery } from '../../model/queries.ts';
import { useRefusal } from '../../model/session.ts';
import { Button } from '../../ui/button.tsx';
import { type CsvColumns, saveCsv } from '../../ui/csv.ts';
import { useFilters } from '../../ui/filters.ts';
import { plural } from '../../ui/format.ts';
import { Card, Page } from '../../ui/layout.tsx';
import { Empty, Notice } from '../../ui/states.tsx';
import { type Column, Pager, Table, timeColumn } from '../../ui/table.tsx';
import { toast, toastError } from '../../ui/toast.ts';
import { Filter, SearchBox, TimeField, Toolbar } from '../../ui/toolbar.tsx';
import { type AuditSearch, auditParameters, auditPeriods, auditQuery, leaversQuery } from './audit.ts';
import { Revert } from './revert.tsx';

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
  const search = useSearch({ from: '/in/audit' });
  const { filters, isFiltered, set, clear, pager } = useFilters(search);
  const actors = useActors();
  const query = useQuery({ ...auditQuery(search), placeholderData: keepPreviousData });
  const dated = filters.since !== undefined || filters.until !== undefined;
  const [times, setTimes] = useState(dated);
  const save = useMutation({
    mutationFn: () => exportAudit(filters),
    onSuccess: ({ count, isCut }) =>
      toast(
        isCut
          ? plural(
              count,
              'The newest entry exported; choose earlier dates for the others',
              'The newest # entries exported; choose earlier dates for the others',
            )
          : plural(count, '# entry exported', '# entries exported'),
      ),
    onError: toastError,
  });
  return (
    <Card flush>
      <Toolbar>
        <SearchBox label="Search the audit log" value={filters.q} onChange={(q) => set({ q })} />
        <Filter
          label="Kind"
          all="Everything"
          value={filters.kind}
          options={kindOptions}
          onChange={(kind) => set({ kind, target: undefined })}
        />
        {filters.target !== undefined && (
          <Button onClick={() => set({ target: undefined })}>
            No. {filters.target} <X aria-label="Remove filter" />
          </Button>
        )}
        <Filter
          label="Action"
          all="Any action"
          value={filters.action}
          options={actionOptions}
          onChange={(action) => set({ action })}
        />
        <Filter
          label="Period"
          all={dated ? 'Chosen times' : 'Any time'}
          value={filters.period}
          options={auditPeriods}
          onChange={(period) => set({ period, since: undefined, until: undefined })}
        />
        <Filter
          label="Member"
          all="Anyone"
          value={filters.user?.toString()}
          options={actors}
          onChange={(user) => set({ user: user === undefined ? undefined : Number(user) })}
        />
        <Button
          aria-pressed={filters.signIns === 'shown'}
          onClick={() => set({ signIns: filters.signIns ? undefined : 'shown' })}
        >
          Sign-ins
        </Button>
        <Button variant="ghost" aria-expanded={times} onClick={() => setTimes(!times)}>
          Dates
        </Button>
        <Button icon={<Download />} pending={save.isPending} onClick={() => save.mutate()}>
          Export CSV
        </Button>
        {times && (
          <>
            <TimeField
              label="From"
              value={filters.since}
              onChange={(since) => set({ since, period: undefined })}
            />
            <TimeField
              label="Until"
              value={filters.until}
              onChange={(until) => set({ until, period: undefined })}
            />
          </>
        )}
      </Toolbar>
      <Table
        query={query}
        label="Audit log"
        columns={columns}
        rows={query.data?.entries}
        rowKey={(entry) => entry.id}
        emptyState={
          query.data?.hasMore ? (
            <Empty
              title="No entry matches so far"
              action={
                <Button onClick={() => pager.onPage(query.data?.nextCursor ?? undefined)}>
                  Search older entries
                </Button>
              }
            />
          ) : isFiltered ? (
            <Empty title="No entries match" action={<Button onClick={clear}>Clear all filters</Button>} />
          ) : (
            <Empty title="No changes yet">
              Every change to keys, subscriptions, members and settings is recorded here.
            </Empty>
          )
        }
      />
      <Pager {...pager} page={query.data} />
    </Card>
  );
}

/** The members, and the latest who have left. */
const useActors = () => {
  const members = useQuery(teamQuery).data?.members ?? [];
  const left = useQuery(leaversQuery).data;
  return [
    ...members.map((member) => ({ value: String(member.id), label: nameOfMember(member) })),
    ...(left?.entries ?? []).map(({ target: { id, name }, before }) => ({
      value: String(id),
      label: `${String(before?.name || name)} (left)`,
    })),
  ];
};

const columns: readonly Column<Entry>[] = [
  {
    header: 'What happened',
    phone: 'title',
    grow: true,
    cell: (entry) => (
      <EntryText entry={entry}>
        <Revert entry={entry} />
      </EntryText>
    ),
  },
  {
    header: 'From',
    phone: 'detail',
    cell: ({ address, userAgent }) => address && <code data-tip={userAgent ?? undefined}>{address}</code>,
  },
  timeColumn('When', (entry) => entry.createdUtc, { align: 'end', phone: 'time' }),
];

/** More are exported in several parts, by their dates. */
const maxExported = 10_000;

/** What the list shows with these filters, the newest first. */
const exportAudit = async (
  search: AuditSearch,
): Promise<{ readonly count: number; readonly isCut: boolean }> => {
  const query = auditParameters({ ...search, cursor: undefined });
  const entries: Entry[] = [];
  let cursor: string | undefined;
  do {
    const page = await call('listAudit', { query: { ...query, limit: 100, cursor } });
    entries.push(...page.entries);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && entries.length < maxExported);
  saveCsv('audit-log', csvColumns, entries);
  return { count: entries.length, isCut: cursor !== undefined };
};

const csvColumns: CsvColumns<Entry> = {
  id: ({ id }) => id,
  time_utc: ({ createdUtc }) => createdUtc,
  actor_kind: ({ actor }) => actor.kind,
  actor_id: ({ actor }) => actor.id,
  actor: ({ actor }) => actor.name,
  action: ({ action }) => action,
  target_kind: ({ target }) => target.kind,
  target_id: ({ target }) => target.id,
  target: ({ target }) => target.name,
  before: ({ before }) => before && JSON.stringify(before),
  after: ({ after }) => after && JSON.stringify(after),
  address: ({ address }) => address,
  browser: ({ userAgent }) => userAgent,
  request_id: ({ requestId }) => requestId,
};
