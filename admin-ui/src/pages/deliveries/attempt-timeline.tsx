import clsx from 'clsx';
import type { ReactNode } from 'react';
import { StatusBadge } from '../../model/attempt-view.tsx';
import { causeOf } from '../../model/causes.ts';
import type { Answer } from '../../model/client.ts';
import { milliseconds } from '../../ui/format.ts';
import { Quiet } from '../../ui/layout.tsx';
import { ClockTime } from '../../ui/values.tsx';
import s from './delivery-page.module.css';

interface TimelineProps {
  readonly history: Answer<'getDelivery'>['history'];
  readonly chosen: number | undefined;
  readonly onChoose: (attempt: number) => void;
  /** What comes next. */
  readonly children?: ReactNode;
}

export function Timeline({ history, chosen, onChoose, children }: TimelineProps) {
  return (
    <ol className={s.list}>
      {history.map((one) => {
        const cause = causeOf(one);
        return (
          <li key={one.attempt} className={clsx(s.item, one.errorClass === null ? s.good : s.bad)}>
            <button
              type="button"
              className={s.attempt}
              aria-pressed={one.attempt === chosen}
              onClick={() => onChoose(one.attempt)}
            >
              <span className={s.number}>
                <span className="visually-hidden">Attempt</span>
                {one.attempt}
              </span>
              <StatusBadge attempt={{ ...one, success: one.errorClass === null }} />
              <span className={s.text}>{cause ? cause.title : 'Delivered'}</span>
              <Quiet small>{milliseconds(one.elapsedMs)}</Quiet>
              <Quiet small>
                <ClockTime time={one.startedUtc} />
              </Quiet>
            </button>
          </li>
        );
      })}
      {children}
    </ol>
  );
}
