import clsx from 'clsx';
import { number, share } from './format.ts';
import s from './health-bar.module.css';

interface HealthBarProps {
  readonly succeeded: number;
  readonly failed: number;
  readonly wide?: boolean;
}

/** The success rate, as a bar and as a number. */
export function HealthBar({ succeeded, failed, wide }: HealthBarProps) {
  const total = succeeded + failed;
  if (total === 0) return <span className={s.none}>No attempts</span>;
  return (
    <span
      className={clsx(s.health, wide && s.wide)}
      data-tip={`${number(succeeded)} succeeded, ${number(failed)} failed`}
    >
      <span className={s.bar} style={{ width: wide ? '100%' : '4.5rem' }} aria-hidden="true">
        {succeeded > 0 && <span className={s.good} data-mark style={{ flexGrow: succeeded }} />}
        {failed > 0 && <span className={s.bad} data-mark style={{ flexGrow: failed }} />}
      </span>
      <span className={s.share}>{share(succeeded, total)}</span>
    </span>
  );
}
