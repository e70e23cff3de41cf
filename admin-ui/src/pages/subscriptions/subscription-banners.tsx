import { failuresUntilDisabled, failuresUntilProbing } from '@causeway/proto/delivery-states';
import { call, useMutation } from '../../model/client.ts';
import { IncidentFacts, IncidentTold, useIncident } from '../../model/incidents.tsx';
import { isAutoDisabled, nameOf, type Subscription } from '../../model/subscriptions.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { errorText, sentence } from '../../ui/errors.ts';
import { plural } from '../../ui/format.ts';
import { Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.ts';
import { Moment, TimeAgo } from '../../ui/values.tsx';
import type { SubscriptionNoticeProps } from './subscription-rules.tsx';

/** Why it does not get its deliveries. */
export function OffBanner({ subscription, refusal }: SubscriptionNoticeProps) {
  const { enabled, disabledReason, disabledUtc, consecutiveFailures, failedAttempts } = subscription;
  const { expiresUtc, managedBy } = subscription;
  const incident = useIncident(subscription.id);
  if (subscription.verification?.state === 'pending')
    return <VerificationBanner subscription={subscription} refusal={refusal} />;
  if (enabled && !incident) return null;
  const isBroken = enabled ? incident?.recoveredUtc === null : isAutoDisabled(subscription);
  return (
    <Notice tone={isBroken ? 'bad' : 'info'} title={titleOf(subscription, isBroken)}>
      {disabledReason !== null && <p>{sentence(disabledReason)}</p>}
      {incident && (
        <>
          <p>
            <IncidentFacts incident={incident} />
          </p>
          <IncidentTold incident={incident} />
        </>
      )}
      {isBroken && failedAttempts > 0 && (
        <p>
          {plural(failedAttempts, '# attempt has failed', '# attempts have failed')} since the last success.
        </p>
      )}
      {enabled && consecutiveFailures >= failuresUntilProbing && (
        <p>
          Nothing is lost. It is switched off after{' '}
          {plural(failuresUntilDisabled - consecutiveFailures, '# more failure')}.
        </p>
      )}
      {disabledUtc !== null && (
        <p>
          Disabled since <Moment time={disabledUtc} /> (<TimeAgo time={disabledUtc} />
          ). What was waiting is held, and events since then are missed, until somebody enables it.
        </p>
      )}
      {expiresUtc !== null && (
        <p>
          This subscription will be removed on <Moment time={expiresUtc} /> unless it is enabled before, here
          or by {managedBy}.
        </p>
      )}
    </Notice>
  );
}

const titleOf = ({ enabled, expiresUtc, managedBy }: Subscription, isBroken: boolean): string => {
  if (enabled) return isBroken ? 'The receiver is broken' : 'The receiver is catching up';
  if (!isBroken) return 'This subscription is disabled';
  return expiresUtc === null
    ? 'This subscription was disabled after repeated failures'
    : `This subscription was disabled because ${managedBy ?? ''} no longer uses it`;
};

function VerificationBanner({ subscription, refusal }: SubscriptionNoticeProps) {
  const { id, verification } = subscription;
  const { held } = subscription.health;
  const name = nameOf(subscription);
  const failure = verification?.failure;
  const send = useMutation({
    mutationFn: () => call('updatePortalSubscription', { params: { id }, body: { enabled: true } }),
    onSuccess: () => toast(`“${name}” is verified and enabled`),
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
