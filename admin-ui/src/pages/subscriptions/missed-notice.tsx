import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { call } from '../../api/client.ts';
import { errorText } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { plural } from '../../ui/format.ts';
import { Notice } from '../../ui/notice.tsx';
import { Moment } from '../../ui/time-ago.tsx';
import type { Subscription } from './state.ts';

interface MissedNoticeProps {
  readonly subscription: Subscription;
  /** Why this person cannot replay. */
  readonly refusal: string | undefined;
}

/** Says how many events the subscription missed at the quota of waiting deliveries, and replays them. */
export function MissedNotice({ subscription: { id, missed }, refusal }: MissedNoticeProps) {
  const navigate = useNavigate();
  const replay = useMutation({
    mutationFn: (since: string) =>
      call('createReplay', { body: { kind: 'missed', subscriptionId: id, since } }),
    onSuccess: (made) => void navigate({ to: '/replays/$id', params: { id: made.id } }),
  });
  if (missed === null) return null;
  return (
    <Notice
      tone="warn"
      title={`${plural(missed.count, 'event')} missed`}
      actions={
        <Button
          size="s"
          disabledReason={refusal}
          pending={replay.isPending}
          onClick={() => replay.mutate(missed.sinceUtc)}
        >
          Replay missed events
        </Button>
      }
    >
      <p>
        Since <Moment time={missed.sinceUtc} />, the company has reached its quota of pending deliveries. The
        missed events are in the event log. Replay them when fewer deliveries are pending.
      </p>
      {replay.isError && <p>{errorText(replay.error)}</p>}
    </Notice>
  );
}
