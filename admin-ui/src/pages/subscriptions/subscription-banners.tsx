import { failuresUntilDisabled, failuresUntilProbing } from '@causeway/proto/delivery-states';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { call, useMutation } from '../../api/client.ts';
import { errorText, sentence } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { plural } from '../../ui/format.ts';
import { Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/states.tsx';
import { toast, toastError } from '../../ui/toast.ts';
import { Moment, TimeAgo } from '../../ui/values.tsx';
import { subscriptionQuery, useSubscriptionCache } from '../queries.ts';
import { HeldStep } from './repair-dialog.tsx';
import { isAutoDisabled, nameOf, type Subscription } from './subscriptions.ts';

interface OffBannerProps {
  readonly subscription: Subscription;
  readonly refusal: string | undefined;
  readonly onRepair: () => void;
}

export function OffBanner({ subscription, refusal, onRepair }: OffBannerProps) {
  const { enabled, disabledReason, disabledUtc, health, consecutiveFailures, failedAttempts } = subscription;
  const { expiresUtc, managedBy, isAgent } = subscription;
  if (subscription.verification?.state === 'pending')
    return <VerificationBanner subscription={subscription} refusal={refusal} />;
  if (enabled) {
    const held = health.held > 0 && <HeldNotice subscription={subscription} refusal={refusal} />;
    if (consecutiveFailures < failuresUntilProbing) return held;
    return (
      <>
        {held}
        <Notice tone="warn" title={`The last ${plural(failedAttempts, 'attempt')} failed`}>
          It gets one attempt at a time, with growing pauses, until one succeeds. A successful test delivery
          ends the pause. After {failuresUntilDisabled} counted failures in a row it is disabled;{' '}
          {consecutiveFailures} are counted. Attempts that were in flight at failure {failuresUntilProbing}{' '}
          are not counted.
          {health.waiting > 0 && ` ${plural(health.waiting, 'pending delivery', 'pending deliveries')}.`}
        </Notice>
      </>
    );
  }
  const auto = isAutoDisabled(subscription);
  return (
    <Notice
      tone={auto ? 'bad' : 'info'}
      title={titleOf(subscription)}
      actions={
        <Button size="s" variant="primary" disabledReason={refusal} onClick={onRepair}>
          {auto ? 'Repair…' : 'Enable…'}
        </Button>
      }
    >
      {disabledReason !== null && <p>{sentence(disabledReason)}</p>}
      {auto && failedAttempts > consecutiveFailures && (
        <p>
          {plural(failedAttempts, 'attempt')} failed since the last success; {consecutiveFailures} of them
          were counted.
        </p>
      )}
      <p>
        {disabledUtc !== null && (
          <>
            Disabled since <Moment time={disabledUtc} /> (<TimeAgo time={disabledUtc} />
            ).{' '}
          </>
        )}
        {health.held > 0
          ? `${plural(health.held, 'delivery is', 'deliveries are')} held until you release or discard ${health.held === 1 ? 'it' : 'them'}.`
          : 'No deliveries are held.'}{' '}
        Events since then were not delivered.
      </p>
      {expiresUtc !== null && (
        <p>
          This subscription will be removed on <Moment time={expiresUtc} /> unless it is enabled before, here
          or by {isAgent ? 'its agent' : managedBy}.
        </p>
      )}
    </Notice>
  );
}

const titleOf = (subscription: Subscription): string => {
  if (!isAutoDisabled(subscription)) return 'This subscription is disabled';
  const { expiresUtc, managedBy, isAgent } = subscription;
  if (isAgent) return 'This subscription of an agent was disabled';
  return expiresUtc === null
    ? 'This subscription was disabled after repeated failures'
    : `This subscription was disabled because ${managedBy} no longer uses it`;
};

function HeldNotice({ subscription, refusal }: Omit<OffBannerProps, 'onRepair'>) {
  return (
    <Notice tone="warn" title={`${plural(subscription.health.held, 'delivery', 'deliveries')} held`}>
      {refusal === undefined ? (
        <HeldStep subscriptionId={subscription.id} />
      ) : (
        <p>They were held while it was disabled, until someone releases or discards them. {refusal}</p>
      )}
    </Notice>
  );
}

interface VerificationBannerProps {
  readonly subscription: Subscription;
  readonly refusal: string | undefined;
}

function VerificationBanner({ subscription, refusal }: VerificationBannerProps) {
  const { id, health, verification } = subscription;
  const cache = useSubscriptionCache();
  const queryClient = useQueryClient();
  const send = useMutation({
    mutationFn: () => call('enablePortalSubscription', { params: { id } }),
    onSuccess: (changed) => {
      cache.changed(changed);
      toast(`“${nameOf(changed)}” is verified and enabled`);
    },
    onError: () => void queryClient.invalidateQueries({ queryKey: subscriptionQuery(id).queryKey }),
  });
  return (
    <Notice
      tone="warn"
      title="Waiting for verification"
      actions={
        <Button
          size="s"
          variant="primary"
          disabledReason={refusal}
          pending={send.isPending}
          onClick={() => send.mutate()}
        >
          Send challenge
        </Button>
      }
    >
      <Stack gap="s">
        <p>
          Your company requires endpoint verification. This subscription gets no deliveries until its receiver
          answers a POST of type <code>endpoint.verification</code> with status 200 and the challenge from its
          payload:
        </p>
        <CodeBlock language="json" label="answer" code={'{"challenge": "<payload.challenge>"}'} />
        {send.isError ? (
          <p role="alert">{errorText(send.error)}</p>
        ) : verification?.challengedUtc ? (
          <p>
            Last challenge (<TimeAgo time={verification.challengedUtc} />
            ): {verification.failure}
          </p>
        ) : (
          <p>No challenge has been answered yet.</p>
        )}
        {health.held > 0 && <p>{plural(health.held, 'delivery is', 'deliveries are')} held until then.</p>}
      </Stack>
    </Notice>
  );
}

interface MissedNoticeProps {
  readonly subscription: Subscription;
  readonly refusal: string | undefined;
}

export function MissedNotice({ subscription, refusal }: MissedNoticeProps) {
  const { id, enabled, missed } = subscription;
  const navigate = useNavigate();
  const replay = useMutation({
    mutationFn: (since: string) =>
      call('createReplay', { body: { kind: 'missed', subscriptionId: id, since } }),
    onSuccess: (made) => void navigate({ to: '/replays/$id', params: { id: made.id } }),
  });
  const cache = useSubscriptionCache();
  const dismiss = useMutation({
    mutationFn: () => call('dismissMissedEvents', { params: { id } }),
    onSuccess: () => cache.changed({ ...subscription, missed: null }),
    onError: toastError,
  });
  if (missed === null) return null;
  return (
    <Notice
      tone="warn"
      title={`${plural(missed.count, 'event')} missed`}
      actions={
        <>
          <Button
            size="s"
            variant="primary"
            disabledReason={refusal ?? (enabled ? undefined : 'Enable the subscription first')}
            pending={replay.isPending}
            onClick={() => replay.mutate(missed.sinceUtc)}
          >
            Replay missed events
          </Button>
          <Button
            size="s"
            disabledReason={refusal}
            pending={dismiss.isPending}
            onClick={() => dismiss.mutate()}
          >
            Dismiss
          </Button>
        </>
      }
    >
      <p>
        They occurred since <Moment time={missed.sinceUtc} />, while the subscription was disabled or the
        company had reached its quota of pending deliveries. They stay in the event log when you dismiss them.
      </p>
      {replay.isError && <p>{errorText(replay.error)}</p>}
    </Notice>
  );
}
