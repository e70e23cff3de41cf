import { call, useMutation } from '../../model/client.ts';
import { useSubscriptionCache } from '../../model/queries.ts';
import { nameOf, type Subscription } from '../../model/subscriptions.ts';
import { Button } from '../../ui/button.tsx';
import { plural } from '../../ui/format.ts';
import { Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/states.tsx';
import { toast, toastError } from '../../ui/toast.ts';
import { Moment } from '../../ui/values.tsx';
import type { Condition } from './rule-drafts.ts';

/** Pauses or resumes it, also if a tool manages it. */
export const usePause = (subscription: Subscription) => {
  const cache = useSubscriptionCache();
  return useMutation({
    mutationFn: (paused: boolean) =>
      call('updatePortalSubscription', { params: { id: subscription.id }, body: { paused } }),
    onSuccess: (changed) => {
      cache.changed(changed);
      const name = nameOf(changed);
      toast(changed.paused ? `“${name}” paused` : `“${name}” resumed`);
    },
    onError: toastError,
  });
};

export interface SubscriptionNoticeProps {
  readonly subscription: Subscription;
  readonly refusal: string | undefined;
}

export function PausedNotice({ subscription, refusal }: SubscriptionNoticeProps) {
  const { pausedBy, pausedUtc } = subscription;
  const { waiting } = subscription.health;
  const pause = usePause(subscription);
  if (pausedUtc === null) return null;
  const member = pausedBy ?? 'someone';
  return (
    <Notice
      tone="warn"
      title={`Paused by ${member}`}
      actions={
        <Button
          size="s"
          variant="primary"
          disabledReason={refusal}
          pending={pause.isPending}
          onClick={() => pause.mutate(false)}
        >
          Resume deliveries
        </Button>
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
export const ruleFacts = ({ conditions, pace, headerNames }: Subscription) => [
  conditions !== undefined && {
    label: 'Filter',
    value: (
      <Stack gap="xs">
        {conditions.map((one) => (
          <code key={JSON.stringify(one)}>{conditionText(one)}</code>
        ))}
      </Stack>
    ),
  },
  pace !== undefined && { label: 'Pace', value: paceText(pace) },
  headerNames !== undefined && {
    label: 'Headers',
    value: (
      <Stack gap="xs">
        {headerNames.map((name) => (
          <code key={name}>{name}</code>
        ))}
      </Stack>
    ),
  },
];

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
