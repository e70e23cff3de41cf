import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Answer } from '../../api/types.ts';
import { useAttention } from '../../app/attention.ts';
import { milliseconds, number, plural, share, shortNumber } from '../../ui/format.ts';
import { Skeleton } from '../../ui/states.tsx';
import s from './numbers.module.css';

interface NumbersProps {
  readonly usage: UseQueryResult<Answer<'getUsage'>>;
  readonly stats: UseQueryResult<Answer<'getDeliveryStats'>>;
}

/** The period in four numbers. */
export function Numbers({ usage, stats }: NumbersProps) {
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
  /** Undefined while it loads. */
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
