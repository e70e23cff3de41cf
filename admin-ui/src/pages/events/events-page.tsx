import { subjectOf, summaryOf } from '@causeway/proto/event-summary';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Answer } from '../../model/client.ts';
import { eventsQuery, eventTypesQuery } from '../../model/queries.ts';
import { RecordCell, RecordTitle } from '../../model/record-cell.tsx';
import { RecordFilter, useRecordName } from '../../model/record-filter.tsx';
import { useNames } from '../../model/records.tsx';
import { useSession } from '../../model/session.ts';
import { useFilters } from '../../ui/filters.ts';
import { plural } from '../../ui/format.ts';
import { Card, Page } from '../../ui/layout.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Pager, Table, timeColumn } from '../../ui/table.tsx';
import { Filter } from '../../ui/toolbar.tsx';
import s from './events-page.module.css';

type Event = Answer<'listPortalEvents'>['events'][number];

export function EventsPage() {
  const search = useSearch({ from: '/in/events' });
  const { filters, set, pager } = useFilters(search);
  const { type } = filters;
  const record = useRecordName(filters);
  const { settings } = useSession();
  const types = useQuery(eventTypesQuery).data?.eventTypes ?? [];
  const query = useQuery({
    ...eventsQuery(search),
    placeholderData: keepPreviousData,
    refetchInterval: search.cursor === undefined ? 15_000 : false,
  });
  const names = useNames(query.data?.events.map(({ payload }) => subjectOf(payload)) ?? []);
  const columns = useMemo(() => columnsWith(names), [names]);
  return (
    <Page
      title="Events"
      description={`Everything that happened in your CRM, with or without a subscription. Kept for ${plural(settings.retentionDays, '# day')}.`}
      refreshing={query.isPlaceholderData}
    >
      <Card flush>
        <search className={s.bar} aria-label="Filters">
          <Filter
            label="Event type"
            all="All event types"
            value={type}
            options={types.map((one) => ({ value: one.type, label: one.type }))}
            onChange={(value) => set({ type: value })}
          />
          <RecordFilter search={filters} onChange={set} />
        </search>
        <Table
          query={query}
          label="Events"
          columns={columns}
          rows={query.data?.events}
          rowKey={(event) => event.id}
          emptyState={
            <Empty title={record ? 'No event matches' : type ? `No ${type} yet` : 'No events yet'}>
              New clients, paid invoices, signed agreements: events are listed here as they happen.
            </Empty>
          }
        />
        <Pager {...pager} page={query.data} />
      </Card>
    </Page>
  );
}

const columnsWith = (names: ReadonlyMap<number, string>): readonly Column<Event>[] => [
  {
    header: 'Record',
    grow: true,
    phone: 'title',
    cell: ({ id, type, payload }) => (
      <RecordCell type={type} summary={summaryOf(payload)}>
        <Link to="/events/$id" params={{ id }}>
          <RecordTitle subject={subjectOf(payload)} names={names} eventId={id} />
        </Link>
      </RecordCell>
    ),
  },
  { header: 'Event', align: 'end', phone: 'detail', cell: (event) => <code>{event.id}</code> },
  timeColumn('Event time', (event) => event.createdUtc, { align: 'end', phone: 'time' }),
];
