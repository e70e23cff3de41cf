import type { UseQueryResult } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { useMemo } from 'react';
import { BarChart } from '../ui/chart.tsx';
import { number, plural, shortNumber } from '../ui/format.ts';
import { Card, Quiet } from '../ui/layout.tsx';
import { Empty, Loaded, Skeleton } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Badge, Cut } from '../ui/values.tsx';
import type { Answer } from './client.ts';
import type { UsageRange } from './queries.ts';
import s from './usage.module.css';

type Usage = Answer<'getUsage'>;
type KeyBucket = Usage['keys'][number]['buckets'][number];

export function KeyUsage({ usage }: { readonly usage: UseQueryResult<Usage> }) {
  const rows = useMemo(
    () =>
      usage.data?.keys
        .flatMap((key) => key.buckets.map((bucket) => ({ key, bucket })))
        .toSorted((a, b) => levelOf(b.bucket) - levelOf(a.bucket))
        .slice(0, 8),
    [usage.data],
  );
  return (
    <Card
      flush
      title="API keys and their limits"
      description="Those nearest to a limit in their busiest minute first."
      actions={<Link to="/keys">All keys</Link>}
    >
      <Table
        query={usage}
        label="API keys by load"
        columns={columns}
        rows={rows}
        rowKey={({ key, bucket }) => `${key.id} ${bucket.bucket}`}
        skeletonRows={3}
        emptyState={<Empty title="No key used in this period" />}
      />
    </Card>
  );
}

interface KeyRow {
  readonly key: Usage['keys'][number];
  readonly bucket: KeyBucket;
}

const hourMs = 3_600_000;
export const rangeMs: Readonly<Record<UsageRange, number>> = {
  '1h': hourMs,
  '24h': 24 * hourMs,
  '7d': 168 * hourMs,
  '30d': 720 * hourMs,
};

const columns: readonly Column<KeyRow>[] = [
  {
    header: 'Key',
    phone: 'title',
    grow: true,
    cell: ({ key }) => (
      <Link to="/keys/$id" params={{ id: key.id }} className={s.name}>
        <Cut strong text={key.name} />
      </Link>
    ),
  },
  { header: 'Kind', phone: 'detail', cell: ({ bucket }) => bucketLabels[bucket.bucket] },
  {
    header: 'Busiest minute',
    phone: 'time',
    cell: ({ bucket }) => (
      <span className={s.peak}>
        <LevelBar bucket={bucket} />
        {ofLimit(bucket)}
      </span>
    ),
  },
  {
    header: 'Refused',
    align: 'end',
    phone: 'badge',
    cell: ({ bucket }) =>
      bucket.limited > 0 ? <Badge tone="bad">{refusedText(bucket.limited)}</Badge> : <Quiet>–</Quiet>,
  },
  {
    header: 'Requests',
    align: 'end',
    cell: ({ bucket }) => number(bucket.answered + bucket.limited),
  },
];

const levelOf = ({ peakPerMinute, limitPerMinute, limited }: KeyBucket): number =>
  limited > 0 ? 1 + limited : Math.min(peakPerMinute / limitPerMinute, 1);

const refusedText = (count: number): string => plural(count, '# refused', '# refused');

const ofLimit = ({ peakPerMinute, limitPerMinute }: KeyBucket): string => {
  const peak = number(peakPerMinute);
  const limit = number(limitPerMinute);
  return `${peak} of ${limit}`;
};

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

const keysInUse = (): LinkProps => ({ to: '/keys', search: { sort: 'used' } });
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
              linkOf={keysInUse}
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
