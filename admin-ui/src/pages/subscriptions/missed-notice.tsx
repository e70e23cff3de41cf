import { useNavigate } from '@tanstack/react-router';
import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import { errorText } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { plural } from '../../ui/format.ts';
import { Notice } from '../../ui/notice.tsx';
import { Moment } from '../../ui/time-ago.tsx';
import { toastError } from '../../ui/toast.ts';
import type { Subscription } from './state.ts';
import { useSubscriptionCache } from './use-subscription-cache.ts';

interface MissedNoticeProps {
  readonly subscription: Subscription;
  /** Why this person cannot replay. */
  readonly refusal: string | undefined;
}

/** Says how many events the subscription missed, and replays or dismisses them. */
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
