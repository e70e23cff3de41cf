import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { StatusBadge } from '../../model/attempt-view.tsx';
import { causeOf } from '../../model/causes.ts';
import { call, operationQuery, useMutation } from '../../model/client.ts';
import { subscriptionQuery, useSubscriptionCache } from '../../model/queries.ts';
import { nameOf, type Subscription } from '../../model/subscriptions.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { errorText } from '../../ui/errors.ts';
import { plural, span } from '../../ui/format.ts';
import { Row, Stack } from '../../ui/layout.tsx';
import { Notice, Skeleton } from '../../ui/states.tsx';
import { Step, Steps } from '../../ui/steps.tsx';
import type { SubscriptionDialogProps } from './subscription-dialogs.tsx';

export function RepairDialog({ open, subscription, onClose }: SubscriptionDialogProps) {
  // While it is open, enabling does not change what the dialog is for.
  const [wasEnabled, setWasEnabled] = useState(subscription.enabled);
  if (!open && wasEnabled !== subscription.enabled) setWasEnabled(subscription.enabled);
  const name = nameOf(subscription);
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={wasEnabled ? `Held and missed events of “${name}”` : `Enable “${name}”`}
      description={wasEnabled ? undefined : 'Steps 1 and 3 are optional.'}
    >
      {open && <Repair subscription={subscription} onClose={onClose} />}
    </Dialog>
  );
}

function Repair({ subscription, onClose }: Omit<SubscriptionDialogProps, 'open'>) {
  // Enabling clears this time, which the missed events start from; replaying them clears the other.
  const [offSince] = useState(subscription.missed?.sinceUtc ?? subscription.disabledUtc);
  const [heldDone, setHeldDone] = useState(false);
  const [missedDone, setMissedDone] = useState(offSince === null);
  return (
    <Stack gap="l">
      <Steps>
        <TestStep subscription={subscription} />
        <EnableStep subscription={subscription} />
        <Step
          number={3}
          title="Handle held and missed events"
          done={subscription.enabled && heldDone && missedDone}
        >
          {subscription.enabled && (
            <Stack>
              <HeldStep subscriptionId={subscription.id} onDone={setHeldDone} />
              {offSince !== null && (
                <MissedStep subscriptionId={subscription.id} since={offSince} onDone={setMissedDone} />
              )}
            </Stack>
          )}
        </Step>
      </Steps>
      <Row justify="flex-end">
        <Button variant={subscription.enabled ? 'primary' : 'secondary'} onClick={onClose}>
          {subscription.enabled ? 'Done' : 'Close'}
        </Button>
      </Row>
    </Stack>
  );
}

function TestStep({ subscription }: { readonly subscription: Subscription }) {
  const test = useMutation({
    mutationFn: () => call('testPortalSubscription', { params: { id: subscription.id }, body: {} }),
  });
  const cause = test.data && causeOf(test.data);
  return (
    <Step number={1} title="Test the endpoint" done={test.data?.success ?? false}>
      <Row>
        <Button size="s" pending={test.isPending} onClick={() => test.mutate()}>
          Send test delivery
        </Button>
        {test.data && <StatusBadge attempt={test.data} />}
        {test.data?.success && <span>It works.</span>}
      </Row>
      {cause && (
        <Notice tone="bad" title={cause.title}>
          {cause.advice}
        </Notice>
      )}
      {test.isError && <Notice tone="bad">{errorText(test.error)}</Notice>}
    </Step>
  );
}

function EnableStep({ subscription }: { readonly subscription: Subscription }) {
  const cache = useSubscriptionCache();
  const enable = useMutation({
    mutationFn: () => call('enablePortalSubscription', { params: { id: subscription.id } }),
    onSuccess: cache.changed,
  });
  return (
    <Step number={2} title="Enable it" done={subscription.enabled}>
      {subscription.enabled ? (
        <p>Enabled. New events are delivered.</p>
      ) : (
        <>
          {subscription.verification !== null && (
            <p>This sends a verification challenge, which the receiver must echo.</p>
          )}
          <div>
            <Button size="s" variant="primary" pending={enable.isPending} onClick={() => enable.mutate()}>
              Enable subscription
            </Button>
          </div>
          {enable.isError && <Notice tone="bad">{errorText(enable.error)}</Notice>}
        </>
      )}
    </Step>
  );
}

interface MissedStepProps {
  readonly subscriptionId: number;
  readonly since: string;
  readonly onDone: (done: boolean) => void;
}

function MissedStep({ subscriptionId, since, onDone }: MissedStepProps) {
  const [until] = useState(() => new Date().toISOString());
  const body = { kind: 'missed' as const, subscriptionId, since, until };
  const preview = useQuery({ ...operationQuery('previewReplay', { body }), retry: false });
  const replay = useMutation({ mutationFn: () => call('createReplay', { body }) });
  const done = preview.data?.count === 0 || replay.isSuccess;
  useEffect(() => onDone(done), [done, onDone]);
  if (preview.isError) return <Notice tone="bad">{errorText(preview.error)}</Notice>;
  if (!preview.data) return <Skeleton width="50%" />;
  const { count, estimateSeconds } = preview.data;
  if (count === 0) return <p>No events were missed while it was disabled.</p>;
  const duration = span(Math.max(estimateSeconds, 1) * 1000);
  return (
    <Stack gap="s">
      <p>
        {plural(
          count,
          `# event occurred while it was disabled. Delivering it takes about ${duration}.`,
          `# events occurred while it was disabled. Delivering them takes about ${duration}.`,
        )}
      </p>
      {replay.data ? (
        <p>
          Replay started.{' '}
          <Link to="/replays/$id" params={{ id: replay.data.id }}>
            View progress
          </Link>
        </p>
      ) : (
        <div>
          <Button size="s" pending={replay.isPending} onClick={() => replay.mutate()}>
            Deliver missed events
          </Button>
        </div>
      )}
      {replay.isError && <Notice tone="bad">{errorText(replay.error)}</Notice>}
    </Stack>
  );
}

interface HeldStepProps {
  readonly subscriptionId: number;
  readonly onDone?: (done: boolean) => void;
}

export function HeldStep({ subscriptionId, onDone }: HeldStepProps) {
  const params = { id: subscriptionId };
  const held = useQuery({
    ...operationQuery('countHeld', { params }),
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.replay?.state === 'running' ? 1000 : false),
  });
  const queryClient = useQueryClient();
  const decide = useMutation({
    mutationFn: (what: 'releaseHeld' | 'discardHeld') => call(what, { params }),
    onSettled: () => {
      void held.refetch();
      void queryClient.invalidateQueries({ queryKey: subscriptionQuery(subscriptionId).queryKey });
    },
  });
  const done =
    held.data !== undefined && (held.data.held === 0 || held.data.replay !== null || decide.isSuccess);
  useEffect(() => onDone?.(done), [done, onDone]);
  if (held.isError) return <Notice tone="bad">{errorText(held.error)}</Notice>;
  if (!held.data) return <Skeleton width="50%" />;
  const { held: count, replay } = held.data;
  const begun = replay ?? decide.data;
  return (
    <Stack gap="s">
      <p>
        {count === 0
          ? 'No deliveries are held.'
          : plural(
              count,
              '# delivery from before it was disabled is held.',
              '# deliveries from before it was disabled are held.',
            )}
      </p>
      {begun ? (
        <p>
          {begun.kind === 'drop' ? 'They are being discarded.' : 'They are being delivered.'}{' '}
          <Link to="/replays/$id" params={{ id: begun.id }}>
            View progress
          </Link>
        </p>
      ) : (
        count > 0 && (
          <Row>
            <Button
              size="s"
              variant="primary"
              pending={decide.isPending && decide.variables === 'releaseHeld'}
              onClick={() => decide.mutate('releaseHeld')}
            >
              Release deliveries
            </Button>
            <Button
              size="s"
              pending={decide.isPending && decide.variables === 'discardHeld'}
              onClick={() => decide.mutate('discardHeld')}
            >
              Discard deliveries
            </Button>
          </Row>
        )
      )}
      {decide.isError && <Notice tone="bad">{errorText(decide.error)}</Notice>}
    </Stack>
  );
}
