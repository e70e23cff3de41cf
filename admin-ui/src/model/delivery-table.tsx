import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { formatDateTime } from '../ui/format.ts';
import { Quiet, Row } from '../ui/layout.tsx';
import { type Column, Table, timeColumn } from '../ui/table.tsx';
import { StateBadge, TimeAgo, useNow } from '../ui/values.tsx';
import { classLabels } from './attempt-view.tsx';
import { type Delivery, nextProbeOf, pathOf, stateOf } from './deliveries.ts';
import s from './delivery-table.module.css';
import { RecordCell, RecordTitle } from './record-cell.tsx';
import { useNames } from './records.tsx';
import { SubscriptionLink } from './subscription-links.tsx';
import { nameOf } from './subscriptions.ts';

interface DeliveryTableProps {
  readonly query: UseQueryResult<{ readonly deliveries: readonly Delivery[] }>;
  readonly emptyState: ReactNode;
  readonly without?: 'subscription' | 'event' | 'record';
}

export function DeliveryTable({ query, emptyState, without }: DeliveryTableProps) {
  const rows = query.data?.deliveries;
  const names = useNames(rows?.map(({ subject }) => subject) ?? []);
  const columns = useMemo(() => columnsWith(names, without), [names, without]);
  return (
    <Table
      narrow={without !== undefined}
      label="Deliveries"
      columns={columns}
      query={query}
      rows={rows}
      rowKey={(one) => one.id}
      emptyState={emptyState}
    />
  );
}

type Without = DeliveryTableProps['without'];

const columnsWith = (names: ReadonlyMap<number, string>, without: Without): readonly Column<Delivery>[] => [
  without === 'event' ? byName() : byRecord(names, without),
  ...(without === 'subscription' ? [] : [subscription()]),
  { header: 'State', phone: 'badge', cell: (one) => <State delivery={one} /> },
  ...(without === 'record' ? [] : attempts()),
  ...(without === 'event'
    ? []
    : [timeColumn<Delivery>('Event time', (one) => one.eventCreatedUtc, { align: 'end', phone: 'time' })]),
];

/** All are of one event. */
const byName = (): Column<Delivery> => ({
  header: 'Delivery',
  phone: 'title',
  cell: (one) => (
    <Link to="/deliveries/$event/$subscription/$replay" params={pathOf(one)}>
      <strong>{one.id}</strong>
    </Link>
  ),
});

const byRecord = (names: ReadonlyMap<number, string>, without: Without): Column<Delivery> => ({
  header: without === 'record' ? 'Event' : 'Record',
  grow: true,
  phone: 'title',
  cell: (one) => (
    <RecordCell
      type={one.eventType}
      numbered={without === 'record'}
      summary={[one.summary, one.replayId > 0 && `replay ${one.replayId}`].filter(Boolean).join(' · ')}
    >
      <Link to="/deliveries/$event/$subscription/$replay" params={pathOf(one)}>
        <RecordTitle
          subject={without === 'record' ? null : one.subject}
          names={names}
          eventId={one.eventId}
        />
      </Link>
    </RecordCell>
  ),
});

const subscription = (): Column<Delivery> => ({
  header: 'Subscription',
  bounded: true,
  phone: 'detail',
  cell: ({ subscription, subscriptionId: id }) => (
    <SubscriptionLink id={id} name={subscription ? nameOf(subscription) : undefined} />
  ),
});

const attempts = (): readonly Column<Delivery>[] => [
  {
    header: 'Response',
    cell: ({ lastStatusCode, lastErrorClass }) =>
      lastStatusCode === null ? lastErrorClass && classLabels[lastErrorClass] : <code>{lastStatusCode}</code>,
  },
  { header: 'Attempts', align: 'end', cell: (one) => one.attempts },
];

function State({ delivery }: { readonly delivery: Delivery }) {
  const now = useNow();
  const probeUtc = nextProbeOf(delivery);
  const isRetry = delivery.state === 'waiting' && delivery.attempts > 0;
  const nextUtc =
    isRetry && delivery.dueUtc !== null && new Date(delivery.dueUtc).getTime() > now ? delivery.dueUtc : null;
  return (
    <Row gap="s" nowrap>
      <StateBadge {...stateOf(delivery)} />
      {probeUtc !== null ? (
        <Quiet small>
          <span
            className={s.wide}
            title={`Waits for the endpoint. Its next attempt: ${formatDateTime(probeUtc)}`}
          >
            endpoint fails
          </span>
        </Quiet>
      ) : (
        nextUtc !== null && (
          <Quiet small>
            <TimeAgo time={nextUtc} />
          </Quiet>
        )
      )}
    </Row>
  );
}
