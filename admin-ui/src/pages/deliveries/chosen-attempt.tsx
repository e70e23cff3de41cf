import { useQuery } from '@tanstack/react-query';
import { Card } from '../../ui/card.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Loaded, SkeletonLines } from '../../ui/states.tsx';
import { Moment } from '../../ui/time-ago.tsx';
import { AttemptView } from './attempt/attempt-view.tsx';
import { attemptQuery, type DeliveryName } from './queries.ts';

interface ChosenAttemptProps {
  readonly name: DeliveryName;
  readonly attempt: number;
}

export function ChosenAttempt({ name, attempt }: ChosenAttemptProps) {
  const query = useQuery(attemptQuery(name, attempt));
  return (
    <Card title={`Attempt ${attempt}`}>
      <Loaded query={query} skeleton={<SkeletonLines lines={12} />}>
        {(whole) => (
          <>
            {whole.masked && (
              <Notice tone="info">
                Personal data is hidden from your role, so the signature does not match what is shown.
              </Notice>
            )}
            <AttemptView attempt={whole} when={<Moment time={whole.startedUtc} />} />
          </>
        )}
      </Loaded>
    </Card>
  );
}
