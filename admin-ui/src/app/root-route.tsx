import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, Outlet } from '@tanstack/react-router';
import { Suspense } from 'react';
import { lazyPart } from '../ui/lazy-part.ts';
import { lazyPage } from './lazy-page.ts';

const Announcer = lazyPart(
  () => import('./announcer.tsx'),
  (part) => part.Announcer,
);

export const rootRoute = createRootRouteWithContext<{ readonly queryClient: QueryClient }>()({
  component: () => (
    <>
      <Outlet />
      <Suspense>
        <Announcer />
      </Suspense>
    </>
  ),
  notFoundComponent: lazyPage(() => import('./not-found.tsx'), 'NotFound'),
});
