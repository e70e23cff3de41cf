import type { UseQueryResult } from '@tanstack/react-query';
import type { Answer } from '../../api/types.ts';
import { Card } from '../../ui/card.tsx';
import { LineChart } from '../../ui/chart/line-chart.tsx';
import { milliseconds } from '../../ui/format.ts';
import { Loaded, Skeleton } from '../../ui/states.tsx';

export function TookChart({ stats }: { readonly stats: UseQueryResult<Answer<'getDeliveryStats'>> }) {
  return (
    <Card
      title="Response times of receivers"
      description="The time within which 50 %, 95 % and 99 % of attempts finished."
    >
      <Loaded query={stats} skeleton={<Skeleton height="14.75rem" />}>
        {({ points }) => (
          <LineChart
            label="Response times of receivers"
            times={points.map((point) => point.utc)}
            format={milliseconds}
            series={[
              { label: 'p50', color: 'var(--accent)', values: points.map((point) => point.p50Ms) },
              { label: 'p95', color: 'var(--info-mark)', values: points.map((point) => point.p95Ms) },
              { label: 'p99', color: 'var(--warn-mark)', values: points.map((point) => point.p99Ms) },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}
