import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { call, useMutation } from '../../api/client.ts';
import { useRefusal } from '../../app/session.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { number } from '../../ui/format.ts';
import { BackLabel, Card, Facts, Page, Stack } from '../../ui/layout.tsx';
import { Loaded, SkeletonLines } from '../../ui/states.tsx';
import { toastError } from '../../ui/toast.tsx';
import { Badge, Moment } from '../../ui/values.tsx';
import { subscriptionsQuery } from '../queries.ts';
import { nameOf } from '../subscriptions/subscriptions.ts';
import {
  deliversAgain,
  kindLabels,
  outcomeOf,
  Progress,
  type Replay,
  replayQuery,
  replayStates,
} from './replay.tsx';

export function ReplayPage() {
  const { id } = useParams({ from: '/in/replays/$id' });
  const query = useQuery(replayQuery(id));
  const state = query.data && replayStates[query.data.state];
  return (
    <Page
      title={`Replay ${id}`}
      badge={
        state && (
          <Badge tone={state.tone} dot>
            {state.label}
          </Badge>
        )
      }
      description={query.data ? kindLabels[query.data.kind] : undefined}
      back={
        <Link to="/deliveries" search={{ view: 'replays' }}>
          <BackLabel>Replays</BackLabel>
        </Link>
      }
      actions={query.data?.state === 'running' && <Cancel id={id} />}
    >
      <Loaded
        query={query}
        skeleton={
          <Card>
            <SkeletonLines lines={7} />
          </Card>
        }
      >
        {(replay) => <Details replay={replay} />}
      </Loaded>
    </Page>
  );
}

function Cancel({ id }: { readonly id: number }) {
  const refusal = useRefusal('developer');
  const queryClient = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => call('cancelReplay', { params: { id } }),
    onSuccess: (replay) => queryClient.setQueryData(replayQuery(id).queryKey, replay),
    onError: toastError,
  });
  return (
    <Button pending={cancel.isPending} disabledReason={refusal} onClick={() => cancel.mutate()}>
      Cancel replay
    </Button>
  );
}

function Details({ replay }: { readonly replay: Replay }) {
  const { filter } = replay;
  const subscriptions = useQuery(subscriptionsQuery).data?.subscriptions;
  const subscription = subscriptions?.find((one) => one.id === replay.subscriptionId);
  const name = subscription ? nameOf(subscription) : `No. ${replay.subscriptionId}`;
  const made = deliversAgain(replay);
  return (
    <Card>
      <Stack gap="l">
        <Progress replay={replay} />
        <Facts
          columns={11}
          facts={[
            made
              ? { label: 'Delivered', value: number(replay.succeeded) }
              : { label: 'Outcome', value: outcomeOf(replay) },
            made ? { label: 'Failed', value: number(replay.failed) } : null,
            {
              label: 'Subscription',
              value: (
                <Link to="/subscriptions/$id" params={{ id: replay.subscriptionId }}>
                  {name}
                </Link>
              ),
            },
            filter.since === undefined
              ? null
              : { label: 'Events from', value: <Moment time={filter.since} /> },
            filter.until === undefined
              ? null
              : { label: 'Events until', value: <Moment time={filter.until} /> },
            filter.types === undefined ? null : { label: 'Types', value: filter.types.join(', ') },
            filter.states === undefined ? null : { label: 'States', value: filter.states.join(', ') },
            { label: 'Started', value: <Moment time={replay.createdUtc} /> },
            replay.finishedUtc === null
              ? null
              : { label: 'Ended', value: <Moment time={replay.finishedUtc} /> },
            replay.createdBy === null ? null : { label: 'By', value: replay.createdBy },
          ]}
        />
        {replay.kind === 'release' && (
          <div>
            <LinkButton
              to="/deliveries"
              search={{ subscription: replay.subscriptionId, until: replay.createdUtc }}
              size="s"
            >
              View released deliveries
            </LinkButton>
          </div>
        )}
        {made && (
          <div>
            <LinkButton to="/deliveries" search={{ replay: replay.id }} size="s">
              View deliveries
            </LinkButton>{' '}
            {replay.failed > 0 && (
              <LinkButton to="/deliveries" search={{ replay: replay.id, state: 'failed' }} size="s">
                View failed deliveries
              </LinkButton>
            )}
          </div>
        )}
      </Stack>
    </Card>
  );
}
