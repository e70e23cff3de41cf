import clsx from 'clsx';
import type { ReactNode } from 'react';
import s from './card.module.css';

interface CardProps {
  readonly title?: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  /** The content has its own edges, like a table. */
  readonly flush?: boolean;
  readonly tone?: 'bad' | undefined;
  readonly className?: string | undefined;
  readonly children?: ReactNode;
}

export function Card({ title, description, actions, flush, tone, className, children }: CardProps) {
  const hasHead = title !== undefined || actions !== undefined;
  return (
    <section className={clsx(s.card, tone && s[tone], className)}>
      {hasHead && (
        <header className={s.head}>
          <div>
            {title !== undefined && <h2>{title}</h2>}
            {description !== undefined && <p className={s.description}>{description}</p>}
          </div>
          {actions !== undefined && <div className={s.actions}>{actions}</div>}
        </header>
      )}
      {children !== undefined && (
        <div className={clsx(s.body, flush && s.flush, hasHead && s.below)}>{children}</div>
      )}
    </section>
  );
}
