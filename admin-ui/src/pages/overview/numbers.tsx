import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Answer } from '../../api/types.ts';
import { milliseconds, number, share, shortNumber } from '../../ui/format.ts';
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
  const off = stats.data?.subscriptions.filter((one) => one.url !== null && !one.enabled).length ?? 0;
  const failing = stats.data?.subscriptions.filter(
    (one) => one.enabled && one.consecutiveFailures > 0,
  ).length;
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
        note={total && (tries === 0 ? 'no attempts' : `of ${number(tries)} attempts`)}
        failed={stats.isError}
      />
      <Tile
        label="Response time (p95)"
        value={total && (total.p95Ms === null ? '–' : milliseconds(total.p95Ms))}
        note={total && (total.p50Ms === null ? 'no attempts' : `p50: ${milliseconds(total.p50Ms)}`)}
        failed={stats.isError}
      />
      <Tile
        label="Failing now"
        value={failing === undefined ? undefined : number(failing)}
        note={off > 0 ? `${number(off)} disabled` : 'none disabled'}
        bad={(failing ?? 0) > 0}
        failed={stats.isError}
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
    <div className={s.tile}>
      <dt>{label}</dt>
      <dd className={s.value}>{value ?? (failed ? '–' : <Skeleton width="4rem" height="1.5rem" />)}</dd>
      <dd className={bad ? s.bad : s.note}>
        {value === undefined ? (failed ? 'not available' : '\u00a0') : note}
      </dd>
    </div>
  );
}
