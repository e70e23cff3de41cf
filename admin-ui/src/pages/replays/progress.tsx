import { number } from '../../ui/format.ts';
import s from './progress.module.css';
import { deliversAgain, type Replay } from './replay.ts';

/** The progress of a replay: delivered, failed, in progress, and not created yet. */
export function Progress({ replay }: { readonly replay: Replay }) {
  const { total, made, failed } = replay;
  const succeeded = deliversAgain(replay) ? replay.succeeded : made;
  const underWay = Math.max(made - succeeded - failed, 0);
  return (
    <div className={s.progress}>
      <div
        className={s.bar}
        role="progressbar"
        aria-label="Deliveries made"
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={made}
      >
        <span className={s.good} data-mark style={{ flexGrow: succeeded }} />
        <span className={s.bad} data-mark style={{ flexGrow: failed }} />
        <span className={s.way} data-mark style={{ flexGrow: underWay }} />
        <span style={{ flexGrow: Math.max(total - made, 0) }} />
      </div>
      <p className={s.text}>
        {number(made)} of {number(total)}
      </p>
    </div>
  );
}
