import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatDateTime } from '../../ui/format.ts';
import { Quiet, Row } from '../../ui/layout.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Cut, StateBadge, TimeAgo, useNow } from '../../ui/values.tsx';
import { nameOf } from '../subscriptions/subscriptions.ts';
import { classLabels } from './attempt-view.tsx';
import { type Delivery, nextProbeOf, pathOf, stateOf } from './deliveries.ts';

interface DeliveryTableProps {
  readonly query: UseQueryResult<{ readonly deliveries: readonly Delivery[] }>;
  readonly emptyState: ReactNode;
  readonly without?: 'subscription' | 'event';
  readonly skeletonRows?: number;
}

export function DeliveryTable({ query, emptyState, without, skeletonRows = 8 }: DeliveryTableProps) {
  return (
    <Table
      dense
      narrow={without !== undefined}
      label="Deliveries"
      columns={without === 'event' ? columnsOfEvent : columns.filter((column) => column.id !== without)}
      query={query}
      rows={query.data?.deliveries}
      rowKey={(one) => one.id}
      emptyState={emptyState}
      skeletonRows={skeletonRows}
    />
  );
}

const byName: Column<Delivery> = {
  id: 'delivery',
  header: 'Delivery',
  phone: 'title',
  cell: (one) => (
    <Link to="/deliveries/$event/$subscription/$replay" params={pathOf(one)}>
      <strong>{one.id}</strong>
    </Link>
  ),
};

const columns: readonly Column<Delivery>[] = [
  {
    id: 'event',
    header: 'Event',
    phone: 'title',
    cell: (one) => (
      <Link to="/deliveries/$event/$subscription/$replay" params={pathOf(one)}>
        <strong>{one.eventType}</strong>
      </Link>
    ),
  },
  {
    id: 'summary',
    header: 'About',
    grow: true,
    phone: 'detail',
    cell: (one) => (
      <Cut
        text={`${one.summary || `Event ${one.eventId}`}${one.replayId > 0 ? `, replay ${one.replayId}` : ''}`}
      />
    ),
  },
  {
    id: 'subscription',
    header: 'Subscription',
    bounded: true,
    cell: (one) =>
      one.subscription ? (
        <Link to="/subscriptions/$id" params={{ id: one.subscriptionId }}>
          <Cut text={nameOf(one.subscription)} />
        </Link>
      ) : (
        <Quiet>Deleted (no. {one.subscriptionId})</Quiet>
      ),
  },
  { id: 'state', header: 'State', phone: 'badge', cell: (one) => <State delivery={one} /> },
  {
    id: 'answer',
    header: 'Answer',
    cell: (one) =>
      one.lastStatusCode !== null ? (
        <code>{one.lastStatusCode}</code>
      ) : one.lastErrorClass !== null ? (
        classLabels[one.lastErrorClass]
      ) : (
        <Quiet>–</Quiet>
      ),
  },
  { id: 'attempts', header: 'Attempts', align: 'end', cell: (one) => one.attempts },
  {
    id: 'time',
    header: 'Happened',
    align: 'end',
    phone: 'time',
    cell: (one) => <TimeAgo time={one.eventCreatedUtc} />,
  },
];

/** All deliveries are of one event, so their numbers and subscriptions distinguish them. */
const columnsOfEvent: readonly Column<Delivery>[] = [
  byName,
  ...columns
    .filter(({ id }) => id !== 'event' && id !== 'summary')
    .map((column) => (column.id === 'subscription' ? { ...column, phone: 'detail' as const } : column)),
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
          <span title={`Waits for the endpoint. Its next attempt: ${formatDateTime(probeUtc)}`}>
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
