import clsx from 'clsx';
import type { ReactNode } from 'react';
import s from './badge.module.css';

export type Tone = 'neutral' | 'good' | 'bad' | 'warn' | 'info' | 'accent';

interface BadgeProps {
  readonly tone?: Tone;
  /** A small mark before the text, for states. */
  readonly dot?: boolean;
  readonly mono?: boolean;
  readonly title?: string | undefined;
  readonly children: ReactNode;
}

export function Badge({ tone = 'neutral', dot, mono, title, children }: BadgeProps) {
  return (
    <span className={clsx(s.badge, s[tone], mono && s.mono)} data-tip={title}>
      {dot && <span className={s.dot} data-mark />}
      {children}
    </span>
  );
}
