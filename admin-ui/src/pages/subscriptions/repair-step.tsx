import clsx from 'clsx';
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import s from './repair-step.module.css';

interface RepairStepProps {
  readonly number: number;
  readonly title: string;
  readonly done?: boolean;
  /** An earlier step must be completed first. */
  readonly waiting?: boolean;
  readonly children: ReactNode;
}

export function RepairStep({ number, title, done, waiting, children }: RepairStepProps) {
  return (
    <li className={clsx(s.step, done && s.done, waiting && s.waiting)}>
      <span className={s.mark} aria-hidden="true">
        {done ? <Check size={14} /> : number}
      </span>
      <h3>
        {title}
        {done && <span className="visually-hidden"> (done)</span>}
      </h3>
      {!waiting && <div className={s.body}>{children}</div>}
    </li>
  );
}
