import clsx from 'clsx';
import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import s from './notice.module.css';

interface NoticeProps {
  readonly tone: 'good' | 'bad' | 'warn' | 'info';
  readonly title?: string;
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}

const icons = { good: CircleCheck, bad: CircleAlert, warn: TriangleAlert, info: Info };

/** A message that the reader needs now. Screen readers announce errors when they appear. */
export function Notice({ tone, title, actions, children }: NoticeProps) {
  const Icon = icons[tone];
  return (
    <div className={clsx(s.notice, s[tone])} role={tone === 'bad' ? 'alert' : undefined}>
      <Icon size={16} className={s.icon} />
      <div className={s.text}>
        {title !== undefined && <p className={s.title}>{title}</p>}
        {children !== undefined && <div>{children}</div>}
        {actions !== undefined && <div className={s.actions}>{actions}</div>}
      </div>
    </div>
  );
}
