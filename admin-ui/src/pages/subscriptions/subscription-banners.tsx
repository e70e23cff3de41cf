import { failuresUntilDisabled, failuresUntilProbing } from '@causeway/proto/delivery-states';
import { plural, t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { call, useMutation } from '../../api/client.ts';
import { errorText, sentence } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/states.tsx';
import { toast, toastError } from '../../ui/toast.ts';
import { Moment, TimeAgo } from '../../ui/values.tsx';
import { subscriptionQuery, useSubscriptionCache } from '../queries.ts';
import { HeldStep } from './repair-dialog.tsx';
import type { SubscriptionNoticeProps } from './subscription-rules.tsx';
import { isAutoDisabled, nameOf, type Subscription } from './subscriptions.ts';

interface OffBannerProps extends SubscriptionNoticeProps {
  readonly onRepair: () => void;
}

export function OffBanner({ subscription, refusal, onRepair }: OffBannerProps) {
  const { enabled, disabledReason, disabledUtc, health, consecutiveFailures, failedAttempts } = subscription;
  const { expiresUtc, managedBy } = subscription;
  const { held, waiting } = health;
  if (subscription.verification?.state === 'pending')
    return <VerificationBanner subscription={subscription} refusal={refusal} />;
  if (enabled) {
    const heldNotice = held > 0 && <HeldNotice subscription={subscription} refusal={refusal} />;
    if (consecutiveFailures < failuresUntilProbing) return heldNotice;
    return (
      <>
        {heldNotice}
        <Notice
          tone="warn"
          title={plural(failedAttempts, {
            one: 'The last attempt failed',
            other: 'The last # attempts failed',
          })}
        >
          <Trans>
            It gets one attempt at a time, with growing pauses, until one succeeds. A successful test delivery
            ends the pause. After {failuresUntilDisabled} counted failures in a row it is disabled;{' '}
            {consecutiveFailures} are counted. Attempts that were in flight at failure {failuresUntilProbing}{' '}
            are not counted.
          </Trans>{' '}
          {waiting > 0 && plural(waiting, { one: '# pending delivery.', other: '# pending deliveries.' })}
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
          {auto ? t`Repair…` : t`Enable…`}
        </Button>
      }
    >
      {disabledReason !== null && <p>{sentence(disabledReason)}</p>}
      {auto && failedAttempts > consecutiveFailures && (
        <p>
          <Trans>
            <Plural value={failedAttempts} one="# attempt" other="# attempts" /> failed since the last
            success; {consecutiveFailures} of them were counted.
          </Trans>
        </p>
      )}
      <p>
        {disabledUtc !== null && (
          <Trans>
            Disabled since <Moment time={disabledUtc} /> (<TimeAgo time={disabledUtc} />
            ).
          </Trans>
        )}{' '}
        <Plural
          value={held}
          _0="No deliveries are held."
          one="# delivery is held until you release or discard it."
          other="# deliveries are held until you release or discard them."
        />{' '}
        {t`Events since then were not delivered.`}
      </p>
      {expiresUtc !== null && (
        <p>
          <Trans>
            This subscription will be removed on <Moment time={expiresUtc} /> unless it is enabled before,
            here or by {managedBy}.
          </Trans>
        </p>
      )}
    </Notice>
  );
}

const titleOf = (subscription: Subscription): string => {
  if (!isAutoDisabled(subscription)) return t`This subscription is disabled`;
  const { expiresUtc } = subscription;
  const managedBy = subscription.managedBy ?? '';
  return expiresUtc === null
    ? t`This subscription was disabled after repeated failures`
    : t`This subscription was disabled because ${managedBy} no longer uses it`;
};

function HeldNotice({ subscription, refusal }: SubscriptionNoticeProps) {
  const { held } = subscription.health;
  return (
    <Notice tone="warn" title={plural(held, { one: '# delivery held', other: '# deliveries held' })}>
      {refusal === undefined ? (
        <HeldStep subscriptionId={subscription.id} />
      ) : (
        <p>
          {t`They were held while it was disabled, until someone releases or discards them.`} {refusal}
        </p>
      )}
    </Notice>
  );
}

function VerificationBanner({ subscription, refusal }: SubscriptionNoticeProps) {
  const { id, verification } = subscription;
  const { held } = subscription.health;
  const name = nameOf(subscription);
  const failure = verification?.failure;
  const cache = useSubscriptionCache();
  const queryClient = useQueryClient();
  const send = useMutation({
    mutationFn: () => call('enablePortalSubscription', { params: { id } }),
    onSuccess: (changed) => {
      cache.changed(changed);
      toast(t`“${name}” is verified and enabled`);
    },
    onError: () => void queryClient.invalidateQueries({ queryKey: subscriptionQuery(id).queryKey }),
  });
  return (
    <Notice
      tone="warn"
      title={t`Waiting for verification`}
      actions={
        <Button
          size="s"
          variant="primary"
          disabledReason={refusal}
          pending={send.isPending}
          onClick={() => send.mutate()}
        >
          {t`Send challenge`}
        </Button>
      }
    >
      <Stack gap="s">
        <p>
          <Trans>
            Your company requires endpoint verification. This subscription gets no deliveries until its
            receiver answers a POST of type <code>endpoint.verification</code> with status 200 and the
            challenge from its payload:
          </Trans>
        </p>
        <CodeBlock language="json" label={t`answer`} code={'{"challenge": "<payload.challenge>"}'} />
        {send.isError ? (
          <p role="alert">{errorText(send.error)}</p>
        ) : verification?.challengedUtc ? (
          <p>
            <Trans>
              Last challenge (<TimeAgo time={verification.challengedUtc} />
              ): {failure}
            </Trans>
          </p>
        ) : (
          <p>{t`No challenge has been answered yet.`}</p>
        )}
        {held > 0 && (
          <p>
            <Plural
              value={held}
              one="# delivery is held until then."
              other="# deliveries are held until then."
            />
          </p>
        )}
      </Stack>
    </Notice>
  );
}

export function MissedNotice({ subscription, refusal }: SubscriptionNoticeProps) {
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
  const { count } = missed;
  return (
    <Notice
      tone="warn"
      title={plural(count, { one: '# event missed', other: '# events missed' })}
      actions={
        <>
          <Button
            size="s"
            variant="primary"
            disabledReason={refusal ?? (enabled ? undefined : t`Enable the subscription first`)}
            pending={replay.isPending}
            onClick={() => replay.mutate(missed.sinceUtc)}
          >
            {t`Replay missed events`}
          </Button>
          <Button
            size="s"
            disabledReason={refusal}
            pending={dismiss.isPending}
            onClick={() => dismiss.mutate()}
          >
            {t`Dismiss`}
          </Button>
        </>
      }
    >
      <p>
        <Trans>
          They occurred since <Moment time={missed.sinceUtc} />, while the subscription was disabled or the
          company had reached its quota of pending deliveries. They stay in the event log when you dismiss
          them.
        </Trans>
      </p>
      {replay.isError && <p>{errorText(replay.error)}</p>}
    </Notice>
  );
}
