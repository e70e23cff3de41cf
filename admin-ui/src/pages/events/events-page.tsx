import { subjectOf, summaryOf } from '@causeway/proto/event-summary';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useMemo } from 'react';
import { type Answer, call, useMutation } from '../../model/client.ts';
import { PayloadField, parsePayload } from '../../model/payload-field.tsx';
import { eventsQuery, eventTypesQuery } from '../../model/queries.ts';
import { RecordCell, RecordTitle } from '../../model/record-cell.tsx';
import { RecordFilter, useRecordName } from '../../model/record-filter.tsx';
import { useNames } from '../../model/records.tsx';
import { useRefusal, useSession } from '../../model/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { fieldError } from '../../ui/errors.ts';
import { Field, Form, Select } from '../../ui/form.tsx';
import { useDraft } from '../../ui/form-draft.ts';
import { plural } from '../../ui/format.ts';
import { Card, Page } from '../../ui/layout.tsx';
import { Empty, Notice } from '../../ui/states.tsx';
import { type Column, Pager, Table, timeColumn } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.ts';
import { Filter } from '../../ui/toolbar.tsx';
import s from './events-page.module.css';

type Event = Answer<'listPortalEvents'>['events'][number];

export function EventsPage() {
  const { dialog, ...search } = useSearch({ from: '/in/events' });
  const { cursor, ...filters } = search;
  const { type } = filters;
  const record = useRecordName(filters);
  const navigate = useNavigate({ from: '/events' });
  const refusal = useRefusal('developer');
  const { settings } = useSession();
  const types = useQuery(eventTypesQuery).data?.eventTypes ?? [];
  const query = useQuery({
    ...eventsQuery(search),
    placeholderData: keepPreviousData,
    refetchInterval: cursor === undefined ? 15_000 : false,
  });
  const names = useNames(query.data?.events.map(({ payload }) => subjectOf(payload)) ?? []);
  const columns = useMemo(() => columnsWith(names), [names]);
  const send = (
    <Button
      icon={<Plus />}
      disabledReason={refusal}
      onClick={() => void navigate({ search: { ...search, dialog: 'send' } })}
    >
      Send test event
    </Button>
  );
  return (
    <Page
      title="Events"
      description={`Everything that happened in your CRM, with or without a subscription. Kept for ${plural(settings.retentionDays, '# day', '# days')}.`}
      actions={send}
      refreshing={query.isPlaceholderData}
    >
      <Card flush>
        <search className={s.bar} aria-label="Filters">
          <Filter
            label="Event type"
            all="All event types"
            value={type}
            options={types.map((one) => ({ value: one.type, label: one.type }))}
            onChange={(value) => void navigate({ search: { ...filters, type: value }, replace: true })}
          />
          <RecordFilter
            search={filters}
            onChange={(next) => void navigate({ search: { ...filters, ...next }, replace: true })}
          />
        </search>
        <Table
          query={query}
          dense
          label="Events"
          columns={columns}
          rows={query.data?.events}
          rowKey={(event) => event.id}
          skeletonRows={10}
          emptyState={
            <Empty
              title={record ? 'No event matches' : type ? `No ${type} yet` : 'No events yet'}
              action={send}
            >
              New clients, paid invoices, signed agreements: events are listed here as they happen.
            </Empty>
          }
        />
        <Pager
          cursor={cursor}
          page={query.data}
          onPage={(to) => void navigate({ search: { ...filters, cursor: to } })}
        />
      </Card>
      {dialog === 'send' && refusal === undefined && (
        <TestEventDialog onClose={() => void navigate({ search, replace: true })} />
      )}
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

/** `own`: a payload that is not the type's sample. */
const noEvent: { readonly type: string | null; readonly own: string | null } = { type: null, own: null };
const eventLabels = { type: 'Event type', own: 'Payload' };

function TestEventDialog({ onClose }: { readonly onClose: () => void }) {
  const types = useQuery(eventTypesQuery).data?.eventTypes ?? [];
  const draft = useDraft('events/test', noEvent, eventLabels);
  const { type: chosen, own } = draft.values;
  const described = types.find((one) => one.type === chosen) ?? types[0];
  const navigate = useNavigate();
  const send = useMutation({
    mutationFn: async () => {
      const type = described?.type ?? 'client.created';
      return call('createPortalTestEvent', {
        body: { type, ...(own === null ? {} : { payload: parsePayload(own) }) },
      });
    },
    meta: { invalidates: [['listPortalEvents']], saves: 'events/test' },
    onSuccess: (event) => {
      toast(`Sent to ${plural(event.subscriptionCount, '# subscription', '# subscriptions')}`);
      void navigate({ to: '/events/$id', params: { id: event.id } });
    },
  });
  return (
    <Dialog open onClose={onClose} title="Send test event" size="l">
      <Form draft={draft} mutation={send} fields={['type', 'payload']} submit="Send event" onCancel={onClose}>
        <Notice tone="warn">
          This is a real event: every subscription to its type receives it, tools act on it, and it stays in
          the log. To try one receiver only, send a test delivery.
        </Notice>
        <Field label="Event type" hint={described?.description} error={fieldError(send.error, 'type')}>
          <Select
            value={described?.type}
            options={types.map(({ type }) => ({ value: type, label: type }))}
            onValue={(type) => draft.set({ type, own: null })}
          />
        </Field>
        <PayloadField
          sample={described?.sample}
          schema={described?.schema}
          value={own}
          onChange={(own) => draft.set({ own })}
          error={fieldError(send.error, 'payload')}
        />
      </Form>
    </Dialog>
  );
}
