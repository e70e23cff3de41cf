import type { UseQueryResult } from '@tanstack/react-query';
import type { LinkProps } from '@tanstack/react-router';
import { BarChart } from '../ui/chart.tsx';
import { number, plural, shortNumber } from '../ui/format.ts';
import { Card } from '../ui/layout.tsx';
import { Loaded, Skeleton } from '../ui/states.tsx';
import { Segmented } from '../ui/toolbar.tsx';
import { wallTime } from '../ui/zone.ts';
import type { Answer } from './client.ts';
import { ranges, type UsageRange } from './queries.ts';
import s from './usage.module.css';

type Usage = Answer<'getUsage'>;
type KeyBucket = Usage['keys'][number]['buckets'][number];

interface RangeChoiceProps {
  readonly value: UsageRange;
  readonly onChange: (range: UsageRange) => void;
}

export const RangeChoice = (props: RangeChoiceProps) => (
  <Segmented
    label="Period"
    options={ranges.map((value) => ({ value, label: rangeLabels[value] }))}
    {...props}
  />
);

const rangeLabels = { '1h': '1 hour', '24h': '24 hours', '7d': '7 days', '30d': '30 days' } as const;

const refusedText = (count: number): string => plural(count, '# refused', '# refused');

function LevelBar({ bucket }: { readonly bucket: KeyBucket }) {
  const level = Math.min(bucket.peakPerMinute / bucket.limitPerMinute, 1);
  return (
    <span className={s.bar} aria-hidden="true">
      <span
        data-mark
        data-level={bucket.limited > 0 ? 'over' : level >= 0.8 ? 'near' : 'fine'}
        style={{ width: `${level * 100}%` }}
      />
    </span>
  );
}

export function BucketBar({ bucket }: { readonly bucket: KeyBucket }) {
  const { limited } = bucket;
  const peak = number(bucket.peakPerMinute);
  const limit = number(bucket.limitPerMinute);
  const total = number(bucket.answered);
  return (
    <div className={s.bucket}>
      <span>{bucketLabels[bucket.bucket]}</span>
      <LevelBar bucket={bucket} />
      <span className={s.value}>
        {peak} of {limit} a minute
        <small>
          {total} in total
          {limited > 0 && <>, {refusedText(limited)}</>}
        </small>
      </span>
    </div>
  );
}

type BucketName = Usage['buckets'][number]['bucket'];

export const bucketLabels: Readonly<Record<BucketName, string>> = {
  read: 'Read',
  write: 'Write',
  admin: 'Webhooks and tests',
  lookup: 'Lookups',
};
const colors: Readonly<Record<BucketName, string>> = {
  read: 'var(--accent)',
  write: 'var(--info-mark)',
  admin: 'var(--warn-mark)',
  lookup: 'var(--lookup-mark)',
};

const usageOf = (since: string): LinkProps => ({
  to: '/usage',
  search: { day: wallTime(since).slice(0, 10) },
});
const deliveriesOf = (since: string, until: string): LinkProps => ({
  ...{ to: '/deliveries', search: { since, until } },
});

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
              linkOf={usageOf}
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

export function DeliveryChart({ stats }: { readonly stats: UseQueryResult<Answer<'getDeliveryStats'>> }) {
  return (
    <Card title="Delivery attempts" description="Every HTTP request to a subscription.">
      <Loaded query={stats} skeleton={<Skeleton height="14.75rem" />}>
        {({ points }) => (
          <BarChart
            label="Delivery attempts"
            times={points.map((point) => point.utc)}
            format={shortNumber}
            linkOf={deliveriesOf}
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
