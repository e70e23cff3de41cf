import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { memo, useDeferredValue } from 'react';
import { useSession } from '../../app/session.ts';
import { Grid } from '../../ui/layout.tsx';
import { Page } from '../../ui/page.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { AttentionBanner } from './attention-banner.tsx';
import { DeliveryChart } from './delivery-chart.tsx';
import { Endpoints } from './endpoints.tsx';
import { FirstSteps } from './first-steps.tsx';
import { KeyUsage } from './key-usage.tsx';
import { Numbers } from './numbers.tsx';
import { type Range, ranges, statsQuery, usageQuery } from './queries.ts';
import { TookChart } from './took-chart.tsx';
import { UsageChart } from './usage-chart.tsx';

const rangeLabels = { '1h': '1 hour', '24h': '24 hours', '7d': '7 days', '30d': '30 days' } as const;

export function OverviewPage() {
  const { range: chosen = '24h' } = useSearch({ from: '/in/' });
  // The selection updates at once; the charts follow.
  const range = useDeferredValue(chosen);
  const navigate = useNavigate({ from: '/' });
  const { company } = useSession();
  const usage = useQuery(usageQuery(range));
  const stats = useQuery(statsQuery(range));
  return (
    <Page
      title="Overview"
      description={`API and webhook activity for ${company.name}.`}
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
      <AttentionBanner />
      <FirstSteps />
      <Charts range={range} />
    </Page>
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
      <Grid min={26}>
        <KeyUsage usage={usage} />
        <TookChart stats={stats} />
      </Grid>
    </>
  );
});
