import type { DeliveryTailEntry } from '@causeway/proto';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Pause, Play } from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { StatusBadge } from '../../model/attempt-view.tsx';
import { operationUrl, streamRefusal } from '../../model/client.ts';
import { pathOf } from '../../model/deliveries.ts';
import { sessionQuery } from '../../model/session.ts';
import { useSubscriptionNames } from '../../model/subscription-link.tsx';
import { Button } from '../../ui/button.tsx';
import { ApiError, errorText } from '../../ui/errors.ts';
import { milliseconds, number, plural } from '../../ui/format.ts';
import { Card, Quiet, Row } from '../../ui/layout.tsx';
import { useReachability } from '../../ui/reachability.ts';
import { Empty, Notice } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { ClockTime, Cut, StateBadge } from '../../ui/values.tsx';

export function LiveTail() {
  const tail = useTail();
  const waiting = number(tail.waiting);
  const names = useSubscriptionNames();
  return (
    <Card
      flush
      title="Attempts as they happen"
      description={
        [
          tail.dropped > 0 &&
            plural(
              tail.dropped,
              '# attempt skipped: too many at once.',
              '# attempts skipped: too many at once.',
            ),
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
            {tail.paused ? (tail.waiting > 0 ? `Resume, ${waiting} new` : 'Resume') : 'Pause'}
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
          <Empty title="Waiting for the next delivery">
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
  return <StateBadge tone={tone} label={label} />;
}

const columnsWith = (names: ReadonlyMap<number, string>): readonly Column<TailEntry>[] => [
  {
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
    header: 'Subscription',
    bounded: true,
    phone: 'detail',
    cell: (one) => <Cut text={names.get(one.subscriptionId) ?? `No. ${one.subscriptionId}`} />,
  },
  {
    header: 'Response',
    phone: 'badge',
    cell: (one) => <StatusBadge attempt={{ ...one, success: one.errorClass === null }} />,
  },
  { header: 'Attempt', align: 'end', cell: (one) => one.attempt },
  { header: 'Took', align: 'end', cell: (one) => milliseconds(one.elapsedMs) },
  {
    header: 'At',
    align: 'end',
    phone: 'time',
    cell: (one) => <ClockTime time={one.startedUtc} />,
  },
];

type TailEntry = DeliveryTailEntry;

const againMs = 3000;

const tailPath = '/deliveries/tail';

const maxRows = 200;

type Tail = ReturnType<typeof useTail>;

const useTail = () => {
  // `lost`: it connects again by itself. `closed`: it does not.
  const [state, setState] = useState<'connecting' | 'open' | 'lost' | 'closed'>('connecting');
  const [refusal, setRefusal] = useState<string | null>(null);
  const [entries, setEntries] = useState<readonly TailEntry[]>([]);
  const [held, setHeld] = useState<readonly TailEntry[]>([]);
  const [waiting, setWaiting] = useState(0);
  const [dropped, setDropped] = useState(0);
  const [interrupted, setInterrupted] = useState(false);
  const [paused, setPaused] = useState(false);
  const [turn, setTurn] = useState(0);
  const pausedNow = useRef(paused);
  pausedNow.current = paused;
  const queryClient = useQueryClient();
  // A connection that breaks without a word stays open for the browser; other requests notice it.
  const { reachable } = useReachability();

  // biome-ignore lint/correctness/useExhaustiveDependencies: `turn` asks for a new connection
  useEffect(() => {
    if (!reachable) {
      setState('lost');
      setInterrupted(true);
      return;
    }
    let source: EventSource | null = null;
    let again: ReturnType<typeof setTimeout> | undefined;
    const take = (more: readonly TailEntry[]): void => {
      const newest = more.toReversed();
      const add = (before: readonly TailEntry[]) => [...newest, ...before].slice(0, maxRows);
      if (pausedNow.current) {
        setHeld(add);
        setWaiting((count) => count + more.length);
      } else setEntries(add);
    };
    const open = (): void => {
      setState((before) => (before === 'lost' ? before : 'connecting'));
      setRefusal(null);
      source = new EventSource(operationUrl(tailPath));
      source.addEventListener('ready', () => setState('open'));
      source.addEventListener('attempts', (event) => take(JSON.parse(event.data) as TailEntry[]));
      source.addEventListener('dropped', (event) => setDropped((count) => count + Number(event.data)));
      source.addEventListener('end', () => {
        close();
        setState('closed');
        void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
      });
      source.addEventListener('error', () => {
        setState('lost');
        setInterrupted(true);
        // The browser connects again by itself after a broken connection, but not after a refusal.
        if (source?.readyState !== EventSource.CLOSED) return;
        close();
        streamRefusal(tailPath)
          .catch((error: unknown) => error)
          .then((error) => {
            const final = error instanceof ApiError && error.status >= 400 && error.status < 500;
            setState(final ? 'closed' : 'lost');
            setRefusal(error ? errorText(error) : null);
            if (!final) again = setTimeout(look, againMs);
          });
      });
    };
    const close = (): void => {
      clearTimeout(again);
      source?.close();
      source = null;
    };
    const look = (): void => {
      if (document.hidden) {
        close();
        setInterrupted(true);
      } else if (source === null) open();
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      close();
    };
  }, [turn, queryClient, reachable]);

  const resume = useCallback(() => {
    setPaused(false);
    setWaiting(0);
    setEntries((before) => [...held, ...before].slice(0, maxRows));
    setHeld([]);
  }, [held]);

  return {
    state,
    refusal,
    entries,
    paused,
    waiting,
    dropped,
    interrupted,
    pause: () => setPaused(true),
    resume,
    reconnect: () => setTurn(turn + 1),
  };
};
