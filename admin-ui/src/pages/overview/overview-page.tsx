import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { memo, useDeferredValue } from 'react';
import { useAttentionPending } from '../../app/attention.ts';
import { Grid } from '../../ui/layout.tsx';
import { Page } from '../../ui/page.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { AttentionBanner } from './attention-banner.tsx';
import { DeliveryChart } from './delivery-chart.tsx';
import { Endpoints } from './endpoints.tsx';
import { FirstSteps } from './first-steps.tsx';
import { KeyUsage } from './key-usage.tsx';
import { Numbers } from './numbers.tsx';
import {
  firstDeliveryStepsQuery,
  firstStepsQuery,
  type Range,
  ranges,
  statsQuery,
  usageQuery,
} from './queries.ts';
import { TookChart } from './took-chart.tsx';
import { UsageChart } from './usage-chart.tsx';

const rangeLabels = { '1h': '1 hour', '24h': '24 hours', '7d': '7 days', '30d': '30 days' } as const;

export function OverviewPage() {
  const { range: chosen = '24h' } = useSearch({ from: '/in/' });
  // The selection updates at once; the charts follow.
  const range = useDeferredValue(chosen);
  const navigate = useNavigate({ from: '/' });
  const usage = useQuery(usageQuery(range));
  const stats = useQuery(statsQuery(range));
  const pending = useNoticesPending();
  return (
    <Page
      title="Overview"
      description="API requests and webhook deliveries of your company, and what needs attention."
      refreshing={range !== chosen || usage.isPlaceholderData || stats.isPlaceholderData}
      actions={
        <Segmented
          label="Period"
          value={chosen}
          options={ranges.map((value) => ({ value, label: rangeLabels[value] }))}
          onChange={(next) => void navigate({ search: next === '24h' ? {} : { range: next }, replace: true })}
        />
      }
    >
      {pending ? (
        <Waiting />
      ) : (
        <>
          <AttentionBanner />
          <FirstSteps />
          <Charts range={range} />
        </>
      )}
    </Page>
  );
}

/**
 * Whether it is still unknown which notices stand above the charts. The page waits for them, so that nothing moves when
 * they appear.
 */
const useNoticesPending = (): boolean => {
  const attention = useAttentionPending();
  const own = useQuery(firstStepsQuery);
  const delivered = useQuery(firstDeliveryStepsQuery);
  return attention || own.isPending || delivered.isPending;
};

function Waiting() {
  return (
    <div aria-busy="true">
      <span className="visually-hidden">Loading…</span>
      <Skeleton height="7rem" />
    </div>
  );
}

/** Memoized, so that the charts do not render while only the selection changes. */
const Charts = memo(function Charts({ range }: { readonly range: Range }) {
  const usage = useQuery(usageQuery(range));
  const stats = useQuery(statsQuery(range));
  return (
    <>
      <Numbers usage={usage} stats={stats} />
      <Grid min={26}>
        <UsageChart usage={usage} />
        <DeliveryChart stats={stats} />
      </Grid>
      <Endpoints stats={stats} />
      {/* The table above it may have any height. */}
      {!stats.isPending && (
        <Grid min={26}>
          <KeyUsage usage={usage} />
          <TookChart stats={stats} />
        </Grid>
      )}
    </>
  );
});
