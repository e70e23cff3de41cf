import { t } from '@lingui/core/macro';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { onFirstUse } from '../../i18n/i18n.tsx';
import { formatDateTime } from '../../ui/format.ts';
import { Quiet, Row } from '../../ui/layout.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Cut, StateBadge, TimeAgo, useNow } from '../../ui/values.tsx';
import { RecordCell, RecordTitle } from '../records/record-cell.tsx';
import { useNames } from '../records/records.tsx';
import { nameOf } from '../subscriptions/subscriptions.ts';
import { classLabels } from './attempt-view.tsx';
import { type Delivery, nextProbeOf, pathOf, stateOf } from './deliveries.ts';
import s from './delivery-table.module.css';

interface DeliveryTableProps {
  readonly query: UseQueryResult<{ readonly deliveries: readonly Delivery[] }>;
  readonly emptyState: ReactNode;
  readonly without?: 'subscription' | 'event' | 'record';
  readonly skeletonRows?: number;
}

export function DeliveryTable({ query, emptyState, without, skeletonRows = 8 }: DeliveryTableProps) {
  const rows = query.data?.deliveries;
  const names = useNames(rows?.map(({ subject }) => subject) ?? []);
  const shown = useMemo(
    () =>
      [without === 'event' ? byName() : byRecord(names, without), ...columns()].filter(
        ({ id }) => id !== without && !(without === 'record' && (id === 'attempts' || id === 'answer')),
      ),
    [names, without],
  );
  return (
    <Table
      dense
      narrow={without !== undefined}
      label={t`Deliveries`}
      columns={shown}
      query={query}
      rows={rows}
      rowKey={(one) => one.id}
      emptyState={emptyState}
      skeletonRows={skeletonRows}
    />
  );
}

/** All are of one event. */
const byName = onFirstUse(
  (): Column<Delivery> => ({
    id: 'delivery',
    header: t`Delivery`,
    phone: 'title',
    cell: (one) => (
      <Link to="/deliveries/$event/$subscription/$replay" params={pathOf(one)}>
        <strong>{one.id}</strong>
      </Link>
    ),
  }),
);

const byRecord = (
  names: ReadonlyMap<number, string>,
  without: DeliveryTableProps['without'],
): Column<Delivery> => ({
  id: 'event',
  header: without === 'record' ? t`Event` : t`Record`,
  grow: true,
  phone: 'title',
  cell: (one) => (
    <RecordCell
      type={one.eventType}
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

const columns = onFirstUse((): readonly Column<Delivery>[] => [
  {
    id: 'subscription',
    header: t`Subscription`,
    bounded: true,
    phone: 'detail',
    cell: (one) =>
      one.subscription ? (
        <Link to="/subscriptions/$id" params={{ id: one.subscriptionId }}>
          <Cut text={nameOf(one.subscription)} />
        </Link>
      ) : (
        <Quiet>{t`Deleted (no. ${one.subscriptionId})`}</Quiet>
      ),
  },
  { id: 'state', header: t`State`, phone: 'badge', cell: (one) => <State delivery={one} /> },
  {
    id: 'answer',
    header: t`Response`,
    cell: (one) =>
      one.lastStatusCode !== null ? (
        <code>{one.lastStatusCode}</code>
      ) : one.lastErrorClass !== null ? (
        classLabels()[one.lastErrorClass]
      ) : (
        <Quiet>–</Quiet>
      ),
  },
  { id: 'attempts', header: t`Attempts`, align: 'end', cell: (one) => one.attempts },
  {
    id: 'time',
    header: t`Event time`,
    align: 'end',
    phone: 'time',
    cell: (one) => <TimeAgo time={one.eventCreatedUtc} />,
  },
]);

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
            title={t`Waits for the endpoint. Its next attempt: ${formatDateTime(probeUtc)}`}
          >
            {t`endpoint fails`}
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
