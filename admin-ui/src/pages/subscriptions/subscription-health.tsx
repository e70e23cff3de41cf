import { Card } from '../../ui/card.tsx';
import { number } from '../../ui/format.ts';
import { HealthBar } from '../../ui/health-bar.tsx';
import { Facts, Quiet, Stack } from '../../ui/layout.tsx';
import { MinuteAgo } from '../../ui/time-ago.tsx';
import type { Subscription } from './state.ts';

export function SubscriptionHealth({ subscription: { health } }: { readonly subscription: Subscription }) {
  const when = (time: string | null) => (time === null ? <Quiet>Never</Quiet> : <MinuteAgo time={time} />);
  return (
    <Card title="Last 24 hours">
      <Stack>
        <HealthBar succeeded={health.succeeded24h} failed={health.failed24h} wide />
        <Facts
          columns={7.5}
          facts={[
            { label: 'Succeeded', value: number(health.succeeded24h) },
            { label: 'Failed', value: number(health.failed24h) },
            { label: 'Pending', value: number(health.waiting) },
            { label: 'Held', value: number(health.held) },
            { label: 'Last success', value: when(health.lastSuccessUtc) },
            { label: 'Last failure', value: when(health.lastFailureUtc) },
          ]}
        />
      </Stack>
    </Card>
  );
}
