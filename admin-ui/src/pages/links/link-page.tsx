import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { PublicFrame } from '../../app/public-frame.tsx';
import { ApiError } from '../../errors.ts';
import { Notice } from '../../ui/notice.tsx';
import { Loaded, SkeletonLines } from '../../ui/states.tsx';

interface LinkPageProps<T> {
  readonly title: string;
  /** Looks the token up. */
  readonly query: UseQueryResult<T>;
  /** Shown when the server refuses the token. */
  readonly invalid: { readonly title: string; readonly advice: string };
  readonly children: (data: T) => ReactNode;
}

/** The page behind a one-time link: its form, or why the link no longer works. */
export function LinkPage<T>({ title, query, invalid, children }: LinkPageProps<T>) {
  const { error } = query;
  const refused = error instanceof ApiError && error.status >= 400 && error.status < 500;
  return (
    <PublicFrame title={title}>
      {refused ? (
        <>
          <Notice tone="warn" title={invalid.title}>
            {invalid.advice}
          </Notice>
          <Link to="/sign-in">Go to sign-in</Link>
        </>
      ) : (
        <Loaded query={query} skeleton={<SkeletonLines lines={4} />}>
          {children}
        </Loaded>
      )}
    </PublicFrame>
  );
}
