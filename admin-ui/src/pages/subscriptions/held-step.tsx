import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import { operationQuery } from '../../api/query.ts';
import { errorText } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { plural } from '../../ui/format.ts';
import { Row, Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { subscriptionQuery } from './queries.ts';

interface HeldStepProps {
  readonly subscriptionId: number;
  /** Told whether a person has decided about all of them. */
  readonly onDone?: (done: boolean) => void;
}

/** The held deliveries: release or discard them. */
export function HeldStep({ subscriptionId, onDone }: HeldStepProps) {
  const params = { id: subscriptionId };
  const held = useQuery({
    ...operationQuery('countHeld', { params }),
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.replay?.state === 'running' ? 1000 : false),
  });
  const queryClient = useQueryClient();
  const decide = useMutation({
    mutationFn: (what: 'releaseHeld' | 'discardHeld') => call(what, { params }),
    onSettled: () => {
      void held.refetch();
      void queryClient.invalidateQueries({ queryKey: subscriptionQuery(subscriptionId).queryKey });
    },
  });
  const done =
    held.data !== undefined && (held.data.held === 0 || held.data.replay !== null || decide.isSuccess);
  useEffect(() => onDone?.(done), [done, onDone]);
  if (held.isError) return <Notice tone="bad">{errorText(held.error)}</Notice>;
  if (!held.data) return <Skeleton width="50%" />;
  const { held: count, replay } = held.data;
  const begun = replay ?? decide.data;
  return (
    <Stack gap="s">
      <p>
        {count === 0
          ? 'No deliveries are held.'
          : `${plural(count, 'delivery', 'deliveries')} from before it was disabled ${count === 1 ? 'is' : 'are'} held.`}
      </p>
      {begun ? (
        <p>
          {begun.kind === 'drop' ? 'They are being discarded. ' : 'They are being delivered. '}
          <Link to="/replays/$id" params={{ id: begun.id }}>
            View progress
          </Link>
        </p>
      ) : (
        count > 0 && (
          <Row>
            <Button
              size="s"
              variant="primary"
              pending={decide.isPending && decide.variables === 'releaseHeld'}
              onClick={() => decide.mutate('releaseHeld')}
            >
              Release deliveries
            </Button>
            <Button
              size="s"
              pending={decide.isPending && decide.variables === 'discardHeld'}
              onClick={() => decide.mutate('discardHeld')}
            >
              Discard deliveries
            </Button>
          </Row>
        )
      )}
      {decide.isError && <Notice tone="bad">{errorText(decide.error)}</Notice>}
    </Stack>
  );
}
