import type { UseQueryResult } from '@tanstack/react-query';
import type { Answer } from '../../api/types.ts';
import { Card } from '../../ui/card.tsx';
import { BarChart } from '../../ui/chart/bar-chart.tsx';
import { shortNumber } from '../../ui/format.ts';
import { Loaded, Skeleton } from '../../ui/states.tsx';

export function DeliveryChart({ stats }: { readonly stats: UseQueryResult<Answer<'getDeliveryStats'>> }) {
  return (
    <Card title="Delivery attempts" description="Every HTTP request to a subscription.">
      <Loaded query={stats} skeleton={<Skeleton height="14.75rem" />}>
        {({ points }) => (
          <BarChart
            label="Delivery attempts"
            times={points.map((point) => point.utc)}
            format={shortNumber}
            series={[
              {
                label: 'Succeeded',
                color: 'var(--good-mark)',
                values: points.map((point) => point.succeeded),
              },
              { label: 'Failed', color: 'var(--bad-mark)', values: points.map((point) => point.failed) },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}
