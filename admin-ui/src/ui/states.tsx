import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failed } from './failed.tsx';
import s from './states.module.css';

interface EmptyProps {
  readonly icon?: ReactNode;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

/** An empty state: a sentence and the action that fills it. */
export function Empty({ icon, title, children, action }: EmptyProps) {
  return (
    <div className={s.state}>
      {icon && <div className={s.icon}>{icon}</div>}
      <p className={s.title}>{title}</p>
      {children !== undefined && <p className={s.text}>{children}</p>}
      {action !== undefined && <div className={s.action}>{action}</div>}
    </div>
  );
}

interface LoadedProps<T> {
  readonly query: UseQueryResult<T>;
  /** False while what stands above the content loads. */
  readonly ready?: boolean;
  /** A placeholder in the shape of the content, so that the layout does not shift. */
  readonly skeleton: ReactNode;
  readonly children: (data: T) => ReactNode;
}

/** Shows a query: its skeleton, its error with a retry, or its data, which stays while it reloads. */
export function Loaded<T>({ query, ready = true, skeleton, children }: LoadedProps<T>) {
  if (query.data !== undefined && ready) return children(query.data);
  return (
    <OrError query={query}>
      <div aria-busy="true">
        <span className="visually-hidden">Loading…</span>
        {skeleton}
      </div>
    </OrError>
  );
}

interface OrErrorProps {
  readonly query: UseQueryResult;
  readonly children: ReactNode;
}

/** Content that has a skeleton of its own, such as a table, or the error of its query if nothing was loaded. */
export function OrError({ query, children }: OrErrorProps) {
  if (!query.isError || query.data !== undefined) return children;
  return <Failed error={query.error} retry={() => void query.refetch()} />;
}

interface SkeletonProps {
  readonly width?: string;
  readonly height?: string;
}

export function Skeleton({ width = '100%', height = '0.875rem' }: SkeletonProps) {
  return <span className={s.skeleton} style={{ width, height }} aria-hidden="true" />;
}

/** A placeholder for text. */
export function SkeletonLines({ lines }: { readonly lines: number }) {
  return (
    <div className={s.lines}>
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={String(line)} width={`${92 - ((line * 17) % 45)}%`} />
      ))}
    </div>
  );
}
