import { failuresUntilDisabled, failuresUntilProbing } from '@causeway/proto/delivery-states';
import { sentence } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { plural } from '../../ui/format.ts';
import { Notice } from '../../ui/notice.tsx';
import { Moment, TimeAgo } from '../../ui/time-ago.tsx';
import { HeldStep } from './held-step.tsx';
import { isAutoDisabled, type Subscription } from './state.ts';
import { VerificationBanner } from './verification-banner.tsx';

interface OffBannerProps {
  readonly subscription: Subscription;
  readonly refusal: string | undefined;
  readonly onRepair: () => void;
}

/** Why the subscription is disabled and how to enable it, or a warning that it is failing. */
export function OffBanner({ subscription, refusal, onRepair }: OffBannerProps) {
  const { enabled, disabledReason, disabledUtc, health, consecutiveFailures, failedAttempts } = subscription;
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
      title={
        auto ? 'This subscription was disabled after repeated failures' : 'This subscription is disabled'
      }
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
    </Notice>
  );
}

/** Deliveries that stayed held when the subscription was enabled. */
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
