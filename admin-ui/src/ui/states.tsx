import type { UseQueryResult } from '@tanstack/react-query';
import clsx from 'clsx';
import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Aqueduct } from './aqueduct.tsx';
import { Button } from './button.tsx';
import { ApiError, errorText } from './errors.ts';
import noticeCss from './notice.module.css';
import statesCss from './states.module.css';

interface EmptyProps {
  readonly alert?: boolean;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

export function Empty({ alert, title, children, action }: EmptyProps) {
  return (
    <div className={statesCss.state} role={alert ? 'alert' : undefined}>
      <div className={alert ? statesCss.icon : statesCss.mark}>
        {alert ? <CircleAlert /> : <Aqueduct built={[false, false, false]} />}
      </div>
      <p className={statesCss.title}>{title}</p>
      {children !== undefined && <p className={statesCss.text}>{children}</p>}
      {action !== undefined && <div className={statesCss.action}>{action}</div>}
    </div>
  );
}

interface LoadedProps<T> {
  readonly query: UseQueryResult<T>;
  /** A placeholder in the shape of the content, if the page does not wait for it. */
  readonly skeleton?: ReactNode;
  readonly children: (data: T) => ReactNode;
}

export function Loaded<T>({ query, skeleton = <SkeletonLines lines={4} />, children }: LoadedProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <Failed error={query.error} retry={() => void query.refetch()} />;
  return <Loading>{skeleton}</Loading>;
}

export const Loading = ({ children }: { readonly children: ReactNode }) => (
  <div aria-busy="true">
    <span className="visually-hidden">Loading…</span>
    {children}
  </div>
);

export function Skeleton({ width = '100%', height = '0.875rem' }: { width?: string; height?: string }) {
  return <span className={statesCss.skeleton} style={{ width, height }} aria-hidden="true" />;
}

export function SkeletonLines({ lines }: { readonly lines: number }) {
  return (
    <div className={statesCss.lines}>
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={String(line)} width={`${92 - ((line * 17) % 45)}%`} />
      ))}
    </div>
  );
}

export function Failed({ error, retry }: { readonly error: unknown; readonly retry: () => void }) {
  const { status, requestId } = error instanceof ApiError ? error : { status: 0, requestId: null };
  if (status === 404) {
    const back = <Button onClick={() => history.back()}>Go back</Button>;
    return <Empty alert title="This does not exist or was deleted" action={back} />;
  }
  return (
    <Empty alert title="This could not be loaded" action={<Button onClick={retry}>Try again</Button>}>
      {errorText(error)}
      {requestId !== null && (
        <>
          <br />
          Request <code>{requestId}</code>
        </>
      )}
    </Empty>
  );
}

interface NoticeProps {
  readonly tone: 'good' | 'bad' | 'warn' | 'info';
  readonly title?: string;
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}

const icons = { good: CircleCheck, bad: CircleAlert, warn: TriangleAlert, info: Info };

/** Screen readers announce errors when they appear. */
export function Notice({ tone, title, actions, children }: NoticeProps) {
  const Icon = icons[tone];
  return (
    <div className={clsx(noticeCss.notice, noticeCss[tone])} role={tone === 'bad' ? 'alert' : undefined}>
      <Icon size={16} className={noticeCss.icon} />
      <div className={noticeCss.text}>
        {title !== undefined && <p className={noticeCss.title}>{title}</p>}
        {children !== undefined && <div>{children}</div>}
        {actions !== undefined && <div className={noticeCss.actions}>{actions}</div>}
      </div>
    </div>
  );
}
