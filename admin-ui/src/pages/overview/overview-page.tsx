import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { memo, type ReactNode, useDeferredValue } from 'react';
import { useAttention } from '../../model/attention.ts';
import type { Answer } from '../../model/client.ts';
import { countsQuery, type DeliverySearch } from '../../model/deliveries.ts';
import {
  firstDeliveryStepsQuery,
  firstStepsQuery,
  statsQuery,
  subscriptionsQuery,
  type UsageRange,
  usageQuery,
} from '../../model/queries.ts';
import { UndeliveredLink } from '../../model/subscription-links.tsx';
import { DeliveryChart, RangeChoice, UsageChart } from '../../model/usage.tsx';
import { Sparkline } from '../../ui/chart.tsx';
import { milliseconds, number, plural, share, shortNumber } from '../../ui/format.ts';
import { Grid, Page } from '../../ui/layout.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { AttentionBanner } from './attention-banner.tsx';
import { FirstSteps } from './first-steps.tsx';
import s from './overview-page.module.css';

export function OverviewPage() {
  const { range: chosen = '24h' } = useSearch({ from: '/in/' });
  // The selection updates at once; the charts follow.
  const range = useDeferredValue(chosen);
  const navigate = useNavigate({ from: '/' });
  const usage = useQuery(usageQuery(range));
  const stats = useQuery(statsQuery(range));
  const isNew = useIsNew(stats);
  return (
    <Page
      title="Overview"
      description="API requests and webhook deliveries of your company, and what needs attention."
      refreshing={range !== chosen || usage.isPlaceholderData || stats.isPlaceholderData}
      actions={
        !isNew && (
          <RangeChoice
            value={chosen}
            onChange={(next) =>
              void navigate({ search: next === '24h' ? {} : { range: next }, replace: true })
            }
          />
        )
      }
    >
      <AttentionBanner />
      {!isNew && <Charts range={range} />}
      <FirstSteps />
    </Page>
  );
}

/** A company in which nothing has happened yet has first steps, and nothing else to show. */
const useIsNew = ({ data }: UseQueryResult<Answer<'getDeliveryStats'>>): boolean => {
  const own = useQuery(firstStepsQuery).data;
  const delivered = useQuery(firstDeliveryStepsQuery).data;
  return (
    own?.firstCallUtc === null &&
    delivered?.deliverySucceededUtc === null &&
    data?.total.succeeded === 0 &&
    data.total.failed === 0
  );
};

/** Memoized, so that the charts do not render while only the selection changes. */
const Charts = memo(function Charts({ range }: { readonly range: UsageRange }) {
  const usage = useQuery(usageQuery(range));
  const stats = useQuery(statsQuery(range));
  return (
    <>
      <Numbers usage={usage} stats={stats} range={range} />
      <Grid min={18}>
        <UsageChart usage={usage} />
        <DeliveryChart stats={stats} />
      </Grid>
    </>
  );
});

interface NumbersProps {
  readonly usage: UseQueryResult<Answer<'getUsage'>>;
  readonly stats: UseQueryResult<Answer<'getDeliveryStats'>>;
  readonly range: UsageRange;
}

function Numbers({ usage, stats, range }: NumbersProps) {
  const buckets = usage.data?.buckets;
  const requests = buckets?.reduce((sum, one) => sum + one.answered, 0);
  const limited = buckets?.reduce((sum, one) => sum + one.limited, 0) ?? 0;
  const { total, points } = stats.data ?? {};
  const tries = total ? total.succeeded + total.failed : 0;
  const period = range === '30d' ? undefined : range;
  const undelivered = useQuery(nowQuery({})).data?.undelivered;
  const arrived = useQuery(nowQuery({ period })).data?.succeeded;
  const subscriptions = useQuery(subscriptionsQuery).data?.subscriptions;
  const attention = useAttention();
  const troubled = attention && attention.offCount + attention.failingCount;
  const off = number(attention?.offCount ?? 0);
  const failingNow = number(attention?.failingCount ?? 0);
  const limitedCount = number(limited);
  const triedShare = share(total?.succeeded ?? 0, tries);
  return (
    <dl className={s.numbers}>
      <Tile
        label="Delivered"
        value={deliveredShare(total, arrived, undelivered)}
        note={
          undelivered && undelivered.count > 0 ? (
            <UndeliveredLink undelivered={undelivered} />
          ) : (
            <Link to="/deliveries" search={{ period }}>
              {plural(total?.succeeded ?? 0, '# delivery', '# deliveries')}
            </Link>
          )
        }
        more={
          total &&
          (tries === 0
            ? 'no attempts'
            : plural(tries, `${triedShare} of # attempt succeeded`, `${triedShare} of # attempts succeeded`))
        }
        course={points?.map((point) => point.succeeded)}
        failed={stats.isError}
      />
      <Tile
        label="API requests"
        value={requests === undefined ? undefined : shortNumber(requests)}
        note={
          <Link to="/usage" search={limited > 0 ? { only: 'refused' } : {}}>
            {limited > 0 ? `${limitedCount} over the limit` : 'none over the limit'}
          </Link>
        }
        bad={limited > 0}
        course={buckets?.[0]?.points.map((_, at) =>
          buckets.reduce((sum, { points }) => sum + (points[at]?.answered ?? 0), 0),
        )}
        failed={usage.isError}
      />
      <Tile
        label="Response time (p95)"
        value={total && (total.p95Ms === null ? '–' : milliseconds(total.p95Ms))}
        note={
          <Link to="/deliveries" search={{ period }}>
            {total && (total.p50Ms === null ? 'no attempts' : `p50: ${milliseconds(total.p50Ms)}`)}
          </Link>
        }
        course={points?.map((point) => point.p95Ms)}
        failed={stats.isError}
      />
      <Tile
        label="Failing or off"
        value={troubled === undefined ? undefined : number(troubled)}
        note={
          attention &&
          (troubled === 0 ? (
            <Link to="/subscriptions">
              {subscriptions?.length === 0 ? 'no subscriptions yet' : 'all subscriptions work'}
            </Link>
          ) : (
            <Link to="/subscriptions" search={{ state: attention.offCount > 0 ? 'off' : 'failing' }}>
              {off} off, {failingNow} failing
            </Link>
          ))
        }
        more={attention && 'Now, in any period'}
        bad={(troubled ?? 0) > 0}
        failed={false}
      />
    </dl>
  );
}

type Total = Answer<'getDeliveryStats'>['total'];
type Counts = Answer<'countDeliveries'>;

const nowQuery = (search: DeliverySearch) => ({
  ...countsQuery(search),
  placeholderData: keepPreviousData,
  refetchInterval: 30_000,
});

/**
 * Of what arrived in the period and what has not arrived; undefined while it loads. Attempts are counted seconds after
 * what has not arrived is known, so deliveries themselves are counted while they are few enough.
 */
const deliveredShare = (
  total: Total | undefined,
  arrived: Counts['succeeded'] | undefined,
  undelivered: Counts['undelivered'] | undefined,
): string | undefined => {
  if (!total || !arrived || !undelivered) return undefined;
  const succeeded = arrived.isMore ? Math.max(arrived.count, total.succeeded) : arrived.count;
  return `${undelivered.isMore ? '< ' : ''}${share(succeeded, succeeded + undelivered.count)}`;
};

interface TileProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly note: ReactNode;
  readonly more?: ReactNode;
  readonly course?: readonly (number | null)[] | undefined;
  readonly bad?: boolean;
  readonly failed: boolean;
}

function Tile({ label, value, note, more, course, bad, failed }: TileProps) {
  return (
    <div className={s.tile} data-bad={bad || undefined}>
      <dt>{label}</dt>
      <dd className={s.value}>
        {value ?? (failed ? '–' : <Skeleton width="4rem" height="1.5rem" />)}
        {course?.some(Boolean) && <Sparkline values={course} />}
      </dd>
      <dd className={bad ? s.bad : s.note}>
        {value === undefined ? (failed ? 'not available' : '\u00a0') : note}
      </dd>
      <dd className={s.note}>{more}</dd>
    </div>
  );
}
