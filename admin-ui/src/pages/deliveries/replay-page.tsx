import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { call, useMutation } from '../../model/client.ts';
import { subscriptionsQuery } from '../../model/queries.ts';
import { useRefusal } from '../../model/session.ts';
import { nameOf } from '../../model/subscriptions.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { number } from '../../ui/format.ts';
import { BackLink, Card, Facts, Page, Stack } from '../../ui/layout.tsx';
import { Loaded, SkeletonCard } from '../../ui/states.tsx';
import { toastError } from '../../ui/toast.ts';
import { Moment, StateBadge } from '../../ui/values.tsx';
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
      badge={state && <StateBadge {...state} />}
      description={query.data ? kindLabels[query.data.kind] : undefined}
      back={
        <BackLink to="/deliveries" search={{ view: 'replays' }}>
          Replays
        </BackLink>
      }
      actions={query.data?.state === 'running' && <CancelReplay id={id} />}
    >
      <Loaded query={query} skeleton={<SkeletonCard lines={7} />}>
        {(replay) => <Details replay={replay} />}
      </Loaded>
    </Page>
  );
}

function CancelReplay({ id }: { readonly id: number }) {
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
            made && { label: 'Failed', value: number(replay.failed) },
            {
              label: 'Subscription',
              value: (
                <Link to="/subscriptions/$id" params={{ id: replay.subscriptionId }}>
                  {name}
                </Link>
              ),
            },
            filter.since !== undefined && { label: 'Events from', value: <Moment time={filter.since} /> },
            filter.until !== undefined && { label: 'Events until', value: <Moment time={filter.until} /> },
            filter.types !== undefined && { label: 'Types', value: filter.types.join(', ') },
            filter.states !== undefined && { label: 'States', value: filter.states.join(', ') },
            { label: 'Started', value: <Moment time={replay.createdUtc} /> },
            replay.finishedUtc !== null && { label: 'Ended', value: <Moment time={replay.finishedUtc} /> },
            replay.createdBy !== null && { label: 'By', value: replay.createdBy },
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
