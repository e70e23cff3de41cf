import { failuresUntilDisabled, failuresUntilProbing } from '@causeway/proto/delivery-states';
import { useNavigate } from '@tanstack/react-router';
import { call, useMutation } from '../../model/client.ts';
import { IncidentFacts, useIncident } from '../../model/incidents.tsx';
import { useSubscriptionCache } from '../../model/queries.ts';
import { isAutoDisabled, nameOf, type Subscription } from '../../model/subscriptions.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { errorText, sentence } from '../../ui/errors.ts';
import { plural } from '../../ui/format.ts';
import { Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/states.tsx';
import { toast, toastError } from '../../ui/toast.ts';
import { Moment, TimeAgo } from '../../ui/values.tsx';
import { HeldStep } from './repair-dialog.tsx';
import type { SubscriptionNoticeProps } from './subscription-rules.tsx';

interface OffBannerProps extends SubscriptionNoticeProps {
  readonly onRepair: () => void;
}

export function OffBanner({ subscription, refusal, onRepair }: OffBannerProps) {
  const { enabled, disabledReason, disabledUtc, health, consecutiveFailures } = subscription;
  const { expiresUtc, managedBy } = subscription;
  const { held } = health;
  const incident = useIncident(subscription.id);
  if (subscription.verification?.state === 'pending')
    return <VerificationBanner subscription={subscription} refusal={refusal} />;
  if (enabled)
    return (
      <>
        {held > 0 && <HeldNotice subscription={subscription} refusal={refusal} />}
        {incident && (
          <Notice
            tone={incident.recoveredUtc === null ? 'bad' : 'info'}
            title={incident.recoveredUtc === null ? 'The receiver is broken' : 'The receiver is catching up'}
          >
            <p>
              <IncidentFacts incident={incident} />
            </p>
            {consecutiveFailures >= failuresUntilProbing && (
              <p>
                Nothing is lost. It is switched off after{' '}
                {plural(failuresUntilDisabled - consecutiveFailures, '# more failure', '# more failures')}.
              </p>
            )}
          </Notice>
        )}
      </>
    );
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
      {auto && incident && (
        <p>
          <IncidentFacts incident={incident} />
        </p>
      )}
      <p>
        {disabledUtc !== null && (
          <>
            Disabled since <Moment time={disabledUtc} /> (<TimeAgo time={disabledUtc} />
            ).
          </>
        )}{' '}
        {held === 0
          ? 'No deliveries are held.'
          : plural(
              held,
              '# delivery is held until you release or discard it.',
              '# deliveries are held until you release or discard them.',
            )}{' '}
        Events since then were not delivered.
      </p>
      {expiresUtc !== null && (
        <p>
          This subscription will be removed on <Moment time={expiresUtc} /> unless it is enabled before, here
          or by {managedBy}.
        </p>
      )}
    </Notice>
  );
}

const titleOf = (subscription: Subscription): string => {
  if (!isAutoDisabled(subscription)) return 'This subscription is disabled';
  const { expiresUtc } = subscription;
  const managedBy = subscription.managedBy ?? '';
  return expiresUtc === null
    ? 'This subscription was disabled after repeated failures'
    : `This subscription was disabled because ${managedBy} no longer uses it`;
};

function HeldNotice({ subscription, refusal }: SubscriptionNoticeProps) {
  const { held } = subscription.health;
  return (
    <Notice tone="warn" title={plural(held, '# delivery held', '# deliveries held')}>
      {refusal === undefined ? (
        <HeldStep subscriptionId={subscription.id} />
      ) : (
        <p>They were held while it was disabled, until someone releases or discards them. {refusal}</p>
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
  const send = useMutation({
    mutationFn: () => call('enablePortalSubscription', { params: { id } }),
    onSuccess: (changed) => {
      cache.changed(changed);
      toast(`“${name}” is verified and enabled`);
    },
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
            ): {failure}
          </p>
        ) : (
          <p>No challenge has been answered yet.</p>
        )}
        {held > 0 && (
          <p>{plural(held, '# delivery is held until then.', '# deliveries are held until then.')}</p>
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
      title={plural(count, '# event missed', '# events missed')}
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
