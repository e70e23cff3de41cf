import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Check } from 'lucide-react';
import { memo, type ReactNode, useDeferredValue } from 'react';
import type { Answer } from '../../api/client.ts';
import { useAttention, useAttentionPending } from '../../app/attention.ts';
import { milliseconds, number, plural, share, shortNumber } from '../../ui/format.ts';
import { Card, Grid, Page } from '../../ui/layout.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { Segmented } from '../../ui/toolbar.tsx';
import { MinuteAgo } from '../../ui/values.tsx';
import {
  firstDeliveryStepsQuery,
  firstStepsQuery,
  rangeLabels,
  ranges,
  statsQuery,
  type UsageRange,
  usageQuery,
} from '../queries.ts';
import { AttentionBanner } from './attention-banner.tsx';
import s from './overview-page.module.css';
import { DeliveryChart, KeyUsage, SubscriptionsByHealth, TookChart, UsageChart } from './usage.tsx';

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
          options={ranges.map((value) => ({ value, label: rangeLabels()[value] }))}
          onChange={(next) => void navigate({ search: next === '24h' ? {} : { range: next }, replace: true })}
        />
      }
    >
      {pending ? (
        <div aria-busy="true">
          <span className="visually-hidden">Loading…</span>
          <Skeleton height="7rem" />
        </div>
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

/** The page waits for its notices, so that nothing moves when they appear. */
const useNoticesPending = (): boolean => {
  const attention = useAttentionPending();
  const own = useQuery(firstStepsQuery);
  const delivered = useQuery(firstDeliveryStepsQuery);
  return attention || own.isPending || delivered.isPending;
};

/** Memoized, so that the charts do not render while only the selection changes. */
const Charts = memo(function Charts({ range }: { readonly range: UsageRange }) {
  const usage = useQuery(usageQuery(range));
  const stats = useQuery(statsQuery(range));
  return (
    <>
      <Numbers usage={usage} stats={stats} />
      <Grid min={26}>
        <UsageChart usage={usage} />
        <DeliveryChart stats={stats} />
      </Grid>
      <SubscriptionsByHealth stats={stats} />
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

interface NumbersProps {
  readonly usage: UseQueryResult<Answer<'getUsage'>>;
  readonly stats: UseQueryResult<Answer<'getDeliveryStats'>>;
}

function Numbers({ usage, stats }: NumbersProps) {
  const buckets = usage.data?.buckets;
  const requests = buckets?.reduce((sum, one) => sum + one.answered, 0);
  const limited = buckets?.reduce((sum, one) => sum + one.limited, 0) ?? 0;
  const total = stats.data?.total;
  const tries = total ? total.succeeded + total.failed : 0;
  const attention = useAttention();
  const troubled = attention && attention.offCount + attention.failingCount;
  return (
    <dl className={s.numbers}>
      <Tile
        label="API requests"
        value={requests === undefined ? undefined : shortNumber(requests)}
        note={limited > 0 ? `${number(limited)} over the limit` : 'none over the limit'}
        bad={limited > 0}
        failed={usage.isError}
      />
      <Tile
        label="Successful attempts"
        value={total && share(total.succeeded, tries)}
        note={total && (tries === 0 ? 'no attempts' : `of ${plural(tries, 'attempt')}`)}
        failed={stats.isError}
      />
      <Tile
        label="Response time (p95)"
        value={total && (total.p95Ms === null ? '–' : milliseconds(total.p95Ms))}
        note={total && (total.p50Ms === null ? 'no attempts' : `p50: ${milliseconds(total.p50Ms)}`)}
        failed={stats.isError}
      />
      <Tile
        label="Failing or off"
        value={troubled === undefined ? undefined : number(troubled)}
        note={
          attention &&
          (troubled === 0 ? (
            'all subscriptions work'
          ) : (
            <Link to="/subscriptions" search={{ state: attention.offCount > 0 ? 'off' : 'failing' }}>
              {number(attention.offCount)} off, {number(attention.failingCount)} failing
            </Link>
          ))
        }
        bad={(troubled ?? 0) > 0}
        failed={false}
      />
    </dl>
  );
}

interface TileProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly note: ReactNode;
  readonly bad?: boolean;
  readonly failed: boolean;
}

function Tile({ label, value, note, bad, failed }: TileProps) {
  return (
    <div className={s.tile} data-bad={bad || undefined}>
      <dt>{label}</dt>
      <dd className={s.value}>{value ?? (failed ? '–' : <Skeleton width="4rem" height="1.5rem" />)}</dd>
      <dd className={bad ? s.bad : s.note}>
        {value === undefined ? (failed ? 'not available' : '\u00a0') : note}
      </dd>
    </div>
  );
}

const step = (title: string, link: ReactNode, done: string | null) => ({ title, link, done });

const FirstSteps = memo(function FirstSteps() {
  const own = useQuery(firstStepsQuery).data;
  const delivered = useQuery(firstDeliveryStepsQuery).data;
  if (!own || !delivered) return null;
  const steps = [
    step('Create an API key', <Link to="/keys">API keys</Link>, own.keyCreatedUtc),
    step('Make your first API call', <Link to="/developers">Quick start</Link>, own.firstCallUtc),
    step(
      'Add a subscription',
      <Link to="/subscriptions/new">Add one</Link>,
      delivered.subscriptionCreatedUtc,
    ),
    step(
      'Send a successful test delivery',
      <Link to="/test">Test delivery</Link>,
      delivered.testSucceededUtc,
    ),
    step('Receive your first event', <Link to="/events">Events</Link>, delivered.deliverySucceededUtc),
  ];
  const doneCount = steps.filter(({ done }) => done !== null).length;
  if (doneCount === steps.length) return null;
  const next = steps.findIndex(({ done }) => done === null);
  return (
    <Card title="First steps" description={`${doneCount} of ${steps.length} done.`}>
      <ol className={s.steps}>
        {steps.map(({ title, link, done }, index) => (
          <li key={title} data-done={done !== null || undefined} data-next={index === next || undefined}>
            <span className={s.mark} aria-hidden="true">
              {done === null ? index + 1 : <Check size={14} />}
            </span>
            <div>
              <p className={s.title}>
                {title}
                {done !== null && <span className="visually-hidden"> (done)</span>}
              </p>
              <p className={s.hint}>{done === null ? link : <MinuteAgo time={done} />}</p>
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
});
