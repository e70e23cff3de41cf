import type { UseQueryResult } from '@tanstack/react-query';
import type { Answer } from '../../api/types.ts';
import { Card } from '../../ui/card.tsx';
import { LineChart } from '../../ui/chart/line-chart.tsx';
import { milliseconds } from '../../ui/format.ts';
import { Loaded, Skeleton } from '../../ui/states.tsx';

export function TookChart({ stats }: { readonly stats: UseQueryResult<Answer<'getDeliveryStats'>> }) {
  return (
    <Card
      title="How fast receivers answer"
      description="Half, 95 and 99 of 100 attempts were done within this time."
    >
      <Loaded query={stats} skeleton={<Skeleton height="14.75rem" />}>
        {({ points }) => (
          <LineChart
            label="How fast receivers answer"
            times={points.map((point) => point.utc)}
            format={milliseconds}
            series={[
              { label: 'Half', color: 'var(--accent)', values: points.map((point) => point.p50Ms) },
              { label: '95 of 100', color: 'var(--info-mark)', values: points.map((point) => point.p95Ms) },
              { label: '99 of 100', color: 'var(--warn-mark)', values: points.map((point) => point.p99Ms) },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}
