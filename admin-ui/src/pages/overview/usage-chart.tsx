import type { UseQueryResult } from '@tanstack/react-query';
import type { Answer } from '../../api/types.ts';
import { Card } from '../../ui/card.tsx';
import { BarChart } from '../../ui/chart/bar-chart.tsx';
import { shortNumber } from '../../ui/format.ts';
import { Loaded, Skeleton } from '../../ui/states.tsx';

type Usage = Answer<'getUsage'>;
type Bucket = Usage['buckets'][number]['bucket'];

export const bucketLabels: Readonly<Record<Bucket, string>> = {
  read: 'Read',
  write: 'Write',
  admin: 'Webhooks and tests',
  lookup: 'Lookups',
};
const colors: Readonly<Record<Bucket, string>> = {
  read: 'var(--accent)',
  write: 'var(--info-mark)',
  admin: 'var(--warn-mark)',
  lookup: 'var(--good-mark)',
};

export function UsageChart({ usage }: { readonly usage: UseQueryResult<Usage> }) {
  return (
    <Card title="API requests" description="By kind, with requests refused by rate limits.">
      <Loaded query={usage} skeleton={<Skeleton height="14.75rem" />}>
        {({ buckets }) => {
          const points = buckets[0]?.points ?? [];
          const limited = points.map((_, index) =>
            buckets.reduce((sum, one) => sum + (one.points[index]?.limited ?? 0), 0),
          );
          return (
            <BarChart
              label="API requests"
              times={points.map((point) => point.utc)}
              format={shortNumber}
              series={[
                ...buckets.map((one) => ({
                  label: bucketLabels[one.bucket],
                  color: colors[one.bucket],
                  values: one.points.map((point) => point.answered),
                })),
                { label: 'Over the limit', color: 'var(--bad-mark)', values: limited },
              ]}
            />
          );
        }}
      </Loaded>
    </Card>
  );
}
