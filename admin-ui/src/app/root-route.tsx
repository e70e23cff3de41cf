import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, Outlet } from '@tanstack/react-router';
import { Announcer } from './announcer.tsx';
import { lazyPage } from './lazy-page.ts';

export const rootRoute = createRootRouteWithContext<{ readonly queryClient: QueryClient }>()({
  component: () => (
    <>
      <Outlet />
      <Announcer />
    </>
  ),
  notFoundComponent: lazyPage(() => import('./not-found.tsx'), 'NotFound'),
});
