import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import { operationQuery } from '../../api/query.ts';
import { errorText } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { plural, span } from '../../ui/format.ts';
import { Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/states.tsx';

interface MissedStepProps {
  readonly subscriptionId: number;
  readonly since: string;
  /** Told whether they are being delivered, or there are none. */
  readonly onDone: (done: boolean) => void;
}

/** The events that occurred while the subscription was disabled. */
export function MissedStep({ subscriptionId, since, onDone }: MissedStepProps) {
  const [until] = useState(() => new Date().toISOString());
  const body = { kind: 'missed' as const, subscriptionId, since, until };
  const preview = useQuery({ ...operationQuery('previewReplay', { body }), retry: false });
  const replay = useMutation({ mutationFn: () => call('createReplay', { body }) });
  const done = preview.data?.count === 0 || replay.isSuccess;
  useEffect(() => onDone(done), [done, onDone]);
  if (preview.isError) return <Notice tone="bad">{errorText(preview.error)}</Notice>;
  if (!preview.data) return <Skeleton width="50%" />;
  const { count, estimateSeconds } = preview.data;
  if (count === 0) return <p>No events were missed while it was disabled.</p>;
  return (
    <Stack gap="s">
      <p>
        {plural(count, 'event')} occurred while it was disabled. Delivering {count === 1 ? 'it' : 'them'}{' '}
        takes about {span(Math.max(estimateSeconds, 1) * 1000)}.
      </p>
      {replay.data ? (
        <p>
          Replay started.{' '}
          <Link to="/replays/$id" params={{ id: replay.data.id }}>
            View progress
          </Link>
        </p>
      ) : (
        <div>
          <Button size="s" pending={replay.isPending} onClick={() => replay.mutate()}>
            Deliver missed events
          </Button>
        </div>
      )}
      {replay.isError && <Notice tone="bad">{errorText(replay.error)}</Notice>}
    </Stack>
  );
}
