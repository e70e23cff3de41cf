import { ChevronLeft } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { Cut } from './cut.tsx';
import s from './page.module.css';

interface PageProps {
  readonly title: string;
  /** Beside the heading, such as a state. */
  readonly badge?: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  /** A link one level up, made with `BackLink`. */
  readonly back?: ReactNode;
  /** Shows old data while newer data loads. */
  readonly refreshing?: boolean | undefined;
  readonly children: ReactNode;
}

/** A page: its heading (which gets the focus on navigation), its actions and its content. */
export function Page({ title, badge, description, actions, back, refreshing, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Causeway`;
  }, [title]);
  return (
    <div className={s.page}>
      <div className={s.bar} data-on={refreshing || undefined} />
      <header className={s.head}>
        <div className={s.text}>
          {back}
          <div className={s.title}>
            <h1 tabIndex={-1} dir="auto">
              {title}
            </h1>
            {badge}
          </div>
          {description !== undefined && <p className={s.description}>{description}</p>}
        </div>
        {actions !== undefined && <div className={s.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** The inside of a link one level up. */
export function BackLabel({ children }: { readonly children: string }) {
  return (
    <span className={s.back}>
      <ChevronLeft size={14} />
      <Cut text={children} />
    </span>
  );
}
