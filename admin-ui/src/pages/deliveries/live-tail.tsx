import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Pause, Play, Radio } from 'lucide-react';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Cut } from '../../ui/cut.tsx';
import { milliseconds, number, plural } from '../../ui/format.ts';
import { Quiet, Row } from '../../ui/layout.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { ClockTime } from '../../ui/time-ago.tsx';
import { subscriptionsQuery } from '../subscriptions/queries.ts';
import { nameOf } from '../subscriptions/state.ts';
import { StatusBadge } from './attempt/attempt-view.tsx';
import { pathOf } from './states.ts';
import { type Tail, type TailEntry, useTail } from './use-tail.ts';

/** Attempts as they happen. Pausing freezes the list and counts new attempts. */
export function LiveTail() {
  const tail = useTail();
  const subscriptions = useQuery(subscriptionsQuery).data?.subscriptions ?? [];
  const names = new Map(subscriptions.map((one) => [one.id, nameOf(one)]));
  return (
    <Card
      flush
      title="Attempts as they happen"
      description={
        [
          tail.dropped > 0 && `${plural(tail.dropped, 'attempt')} skipped: too many at once.`,
          tail.interrupted && 'Attempts made while this page was disconnected are in the log.',
        ]
          .filter(Boolean)
          .join(' ') || undefined
      }
      actions={
        <Row>
          {/* As wide as "Connecting" from the start. */}
          <span role="status" style={{ minWidth: '6.25rem', textAlign: 'end' }}>
            <TailState tail={tail} />
          </span>
          <Button
            size="s"
            icon={tail.paused ? <Play /> : <Pause />}
            onClick={tail.paused ? tail.resume : tail.pause}
          >
            {tail.paused ? `Resume${tail.waiting > 0 ? `, ${number(tail.waiting)} new` : ''}` : 'Pause'}
          </Button>
        </Row>
      }
    >
      {tail.state === 'closed' && (
        <Notice
          tone="warn"
          title="Live view disconnected"
          actions={
            <Button size="s" onClick={tail.reconnect}>
              Reconnect
            </Button>
          }
        >
          {tail.refusal ?? 'The connection ended.'}
        </Notice>
      )}
      <Table
        dense
        label="Attempts"
        columns={columnsWith(names)}
        rows={tail.entries}
        rowKey={(one) => `${one.eventId}-${one.subscriptionId}-${one.replayId}-${one.attempt}`}
        emptyState={
          <Empty icon={<Radio />} title="Waiting for the next delivery">
            Attempts are listed here as they finish. Test deliveries are not included.
          </Empty>
        }
      />
    </Card>
  );
}

function TailState({ tail: { state, paused } }: { readonly tail: Tail }) {
  const [tone, label] = {
    open: paused ? (['neutral', 'Paused'] as const) : (['good', 'Live'] as const),
    connecting: ['info', 'Connecting'] as const,
    lost: ['warn', 'Connection lost, reconnecting'] as const,
    closed: ['bad', 'Disconnected'] as const,
  }[state];
  return (
    <Badge tone={tone} dot>
      {label}
    </Badge>
  );
}

const columnsWith = (names: ReadonlyMap<number, string>): readonly Column<TailEntry>[] => [
  {
    id: 'event',
    header: 'Event',
    grow: true,
    phone: 'title',
    cell: (one) => (
      <Row gap="s">
        <Link
          to="/deliveries/$event/$subscription/$replay"
          params={pathOf(one)}
          search={{ attempt: one.attempt }}
        >
          <strong>{one.eventType}</strong>
        </Link>
        <Quiet small>{one.eventId}</Quiet>
      </Row>
    ),
  },
  {
    id: 'subscription',
    header: 'Subscription',
    bounded: true,
    phone: 'detail',
    cell: (one) => <Cut text={names.get(one.subscriptionId) ?? `No. ${one.subscriptionId}`} />,
  },
  {
    id: 'answer',
    header: 'Answer',
    phone: 'badge',
    cell: (one) => <StatusBadge attempt={{ ...one, success: one.errorClass === null }} />,
  },
  { id: 'attempt', header: 'Attempt', align: 'end', cell: (one) => one.attempt },
  { id: 'took', header: 'Took', align: 'end', cell: (one) => milliseconds(one.elapsedMs) },
  {
    id: 'time',
    header: 'At',
    align: 'end',
    phone: 'time',
    cell: (one) => <ClockTime time={one.startedUtc} />,
  },
];
