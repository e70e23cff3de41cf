import { call } from '../../model/client.ts';
import { nameOf, type Subscription } from '../../model/subscriptions.ts';
import { ActButton } from '../../ui/button.tsx';
import { plural } from '../../ui/format.ts';
import { CodeLines } from '../../ui/layout.tsx';
import { Notice } from '../../ui/states.tsx';
import { Moment } from '../../ui/values.tsx';
import type { Condition } from './rule-drafts.ts';

/** Pauses or resumes it, also if a tool manages it. */
export const pause = (subscription: Subscription, paused: boolean) => ({
  act: () => call('updatePortalSubscription', { params: { id: subscription.id }, body: { paused } }),
  done: paused ? `“${nameOf(subscription)}” paused` : `“${nameOf(subscription)}” resumed`,
});

export interface SubscriptionNoticeProps {
  readonly subscription: Subscription;
  readonly refusal: string | undefined;
}

export function PausedNotice({ subscription, refusal }: SubscriptionNoticeProps) {
  const { pausedBy, pausedUtc } = subscription;
  const { waiting } = subscription.health;
  if (pausedUtc === null) return null;
  const member = pausedBy ?? 'someone';
  return (
    <Notice
      tone="warn"
      title={`Paused by ${member}`}
      actions={
        <ActButton size="s" variant="primary" disabledReason={refusal} {...pause(subscription, false)}>
          Resume deliveries
        </ActButton>
      }
    >
      <p>
        Since <Moment time={pausedUtc} />. Events are recorded, and their deliveries wait:{' '}
        {plural(waiting, '# delivery is pending', '# deliveries are pending')}. Resuming sends the oldest
        first.
      </p>
    </Notice>
  );
}

/** Facts of a subscription that chooses events, has a pace, or has headers of its own. */
export const ruleFacts = ({ conditions, pace, headerNames }: Subscription) => ({
  Filter: conditions && <CodeLines lines={conditions.map(conditionText)} />,
  Pace: pace && paceText(pace),
  Headers: headerNames && <CodeLines lines={headerNames} />,
});

export const paceText = ({ limit, per }: NonNullable<Subscription['pace']>): string =>
  per === 'second' ? `At most ${limit} a second` : `At most ${limit} a minute`;

export const conditionText = (condition: Condition): string => {
  const { field, equals, in: values, exists, startsWith, min, max } = condition;
  if (equals !== undefined) return `${field} = ${equals}`;
  if (values !== undefined) {
    const list = values.join(', ');
    return `${field} is one of ${list}`;
  }
  if (exists !== undefined) return exists ? `${field} exists` : `${field} does not exist`;
  if (startsWith !== undefined) return `${field} starts with ${startsWith}`;
  const bounds = [min === undefined ? [] : `≥ ${min}`, max === undefined ? [] : `≤ ${max}`].flat();
  return `${field} ${bounds.join(', ')}`;
};
