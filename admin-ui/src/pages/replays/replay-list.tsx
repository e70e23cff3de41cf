import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { RotateCcw } from 'lucide-react';
import { operationQuery } from '../../api/query.ts';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { Cut } from '../../ui/cut.tsx';
import { Quiet, Stack } from '../../ui/layout.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Empty, OrError } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { TimeAgo } from '../../ui/time-ago.tsx';
import { subscriptionsQuery } from '../subscriptions/queries.ts';
import { nameOf } from '../subscriptions/state.ts';
import { Progress } from './progress.tsx';
import { kindLabels, outcomeOf, type Replay, replayStates } from './replay.ts';

export function ReplayList({ cursor }: { readonly cursor: string | undefined }) {
  const navigate = useNavigate({ from: '/deliveries' });
  const query = useQuery({
    ...operationQuery('listReplays', { query: { cursor } }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.replays.some((replay) => replay.state === 'running') ? 2000 : false,
  });
  const subscriptions = useQuery(subscriptionsQuery).data?.subscriptions ?? [];
  const names = new Map(subscriptions.map((one) => [one.id, nameOf(one)]));
  return (
    <Card flush>
      <OrError query={query}>
        <Table
          label="Replays"
          columns={columnsWith(names)}
          rows={query.data?.replays}
          rowKey={(replay) => replay.id}
          emptyState={
            <Empty icon={<RotateCcw />} title="No replays yet">
              A replay delivers failed or missed events again, without delaying new ones.
            </Empty>
          }
        />
      </OrError>
      <Pager
        cursor={cursor}
        page={query.data}
        onPage={(to) => void navigate({ search: { view: 'replays', cursor: to } })}
      />
    </Card>
  );
}

const columnsWith = (names: ReadonlyMap<number, string>): readonly Column<Replay>[] => [
  {
    id: 'replay',
    header: 'Replay',
    grow: true,
    cell: (replay) => (
      <Stack gap="xs">
        <Link to="/replays/$id" params={{ id: replay.id }}>
          <strong>{kindLabels[replay.kind]}</strong>
        </Link>
        {replay.total > 1 && <Progress replay={replay} />}
      </Stack>
    ),
  },
  {
    id: 'subscription',
    header: 'Subscription',
    bounded: true,
    cell: ({ subscriptionId }) => {
      const name = names.get(subscriptionId);
      return name === undefined ? (
        <Quiet>No. {subscriptionId}</Quiet>
      ) : (
        <Link to="/subscriptions/$id" params={{ id: subscriptionId }}>
          <Cut text={name} />
        </Link>
      );
    },
  },
  {
    id: 'state',
    header: 'State',
    cell: (replay) => {
      const { tone, label } = replayStates[replay.state];
      return (
        <Badge tone={tone} dot>
          {label}
        </Badge>
      );
    },
  },
  { id: 'outcome', header: 'Outcome', cell: (replay) => outcomeOf(replay) },
  {
    id: 'by',
    header: 'By',
    bounded: true,
    cell: (replay) => <Cut text={replay.createdBy ?? 'An API key'} />,
  },
  { id: 'begun', header: 'Started', align: 'end', cell: (replay) => <TimeAgo time={replay.createdUtc} /> },
];
