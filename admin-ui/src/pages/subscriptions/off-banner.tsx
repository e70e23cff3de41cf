import { sentence } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { plural } from '../../ui/format.ts';
import { Notice } from '../../ui/notice.tsx';
import { Moment, TimeAgo } from '../../ui/time-ago.tsx';
import { isAutoDisabled, type Subscription } from './state.ts';
import { VerificationBanner } from './verification-banner.tsx';

interface OffBannerProps {
  readonly subscription: Subscription;
  readonly refusal: string | undefined;
  readonly onRepair: () => void;
}

/** Why it is off, since when, what has piled up, and the way back; or that it is on its way there. */
export function OffBanner({ subscription, refusal, onRepair }: OffBannerProps) {
  const { enabled, disabledReason, disabledUtc, health, consecutiveFailures } = subscription;
  if (subscription.verification?.state === 'pending')
    return <VerificationBanner subscription={subscription} refusal={refusal} />;
  if (enabled) {
    if (consecutiveFailures < 5) return null;
    return (
      <Notice tone="warn" title={`The last ${plural(consecutiveFailures, 'attempt')} failed`}>
        The subscription gets one attempt at a time until one succeeds. After 20 counted failures in a row it
        is disabled. Attempts that were already under way at the fifth failure are not counted.
        {health.waiting > 0 && ` ${plural(health.waiting, 'delivery', 'deliveries')} wait.`}
      </Notice>
    );
  }
  const auto = isAutoDisabled(subscription);
  return (
    <Notice
      tone={auto ? 'bad' : 'info'}
      title={auto ? 'This subscription was switched off by itself' : 'This subscription is off'}
      actions={
        <Button size="s" variant="primary" disabledReason={refusal} onClick={onRepair}>
          {auto ? 'Repair…' : 'Switch on…'}
        </Button>
      }
    >
      {disabledReason !== null && <p>{sentence(disabledReason)}</p>}
      <p>
        {disabledUtc !== null && (
          <>
            Off since <Moment time={disabledUtc} /> (<TimeAgo time={disabledUtc} />
            ).{' '}
          </>
        )}
        {health.held > 0
          ? `${plural(health.held, 'delivery is', 'deliveries are')} held until you decide about ${health.held === 1 ? 'it' : 'them'}.`
          : 'No deliveries are held.'}{' '}
        What happened since then was not sent.
      </p>
    </Notice>
  );
}
