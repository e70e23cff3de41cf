import clsx from 'clsx';
import type { CSSProperties, ReactNode } from 'react';
import s from './layout.module.css';

interface StackProps {
  readonly gap?: 'xs' | 's' | 'm' | 'l';
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** A vertical stack. */
export function Stack({ gap = 'm', className, children }: StackProps) {
  return <div className={clsx(s.stack, s[`gap-${gap}`], className)}>{children}</div>;
}

interface RowProps extends StackProps {
  readonly align?: CSSProperties['alignItems'];
  readonly justify?: CSSProperties['justifyContent'];
  readonly nowrap?: boolean;
}

/** A horizontal row that wraps. */
export function Row({ gap = 's', align = 'center', justify, nowrap, className, children }: RowProps) {
  return (
    <div
      className={clsx(s.row, s[`gap-${gap}`], className)}
      style={{ alignItems: align, justifyContent: justify, flexWrap: nowrap ? 'nowrap' : undefined }}
    >
      {children}
    </div>
  );
}

interface GridProps {
  /** Columns are at least this wide, in rem. */
  readonly min: number;
  readonly gap?: 's' | 'm' | 'l';
  readonly children: ReactNode;
}

export function Grid({ min, gap = 'm', children }: GridProps) {
  return (
    <div
      className={clsx(s.grid, s[`gap-${gap}`])}
      style={{ gridTemplateColumns: `repeat(auto-fit, minmax(min(100%, ${min}rem), 1fr))` }}
    >
      {children}
    </div>
  );
}

/** Main content with a narrower column beside it, or below it on narrow screens. */
export function Split({ children, aside }: { readonly children: ReactNode; readonly aside: ReactNode }) {
  return (
    <div className={s.split}>
      <div className={s.stackInner}>{children}</div>
      <aside className={s.stackInner}>{aside}</aside>
    </div>
  );
}

interface Fact {
  readonly label: string;
  readonly value: ReactNode;
}

interface FactsProps {
  readonly facts: readonly (Fact | null)[];
  /** Names above their values, in columns of at least this many rem. */
  readonly columns?: number;
}

/** Names and values, as a description list. */
export function Facts({ facts, columns }: FactsProps) {
  return (
    <dl
      className={clsx(s.facts, columns && s.columns)}
      style={
        columns ? { gridTemplateColumns: `repeat(auto-fit, minmax(min(100%, ${columns}rem), 1fr))` } : {}
      }
    >
      {facts.map(
        (fact) =>
          fact && (
            <div key={fact.label}>
              <dt>{fact.label}</dt>
              <dd>{fact.value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

export function Quiet({ children, small }: { readonly children: ReactNode; readonly small?: boolean }) {
  return <span className={clsx(s.quiet, small && s.small)}>{children}</span>;
}
