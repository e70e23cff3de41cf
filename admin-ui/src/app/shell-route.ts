import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { rootRoute } from './root-route.tsx';
import { sessionQuery } from './session.ts';

/** What lies behind the sign-in. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'in',
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData({ ...sessionQuery, revalidateIfStale: true });
    if (session === null) {
      const next = location.href === '/' ? undefined : location.href;
      throw redirect({ to: '/sign-in', search: { next } });
    }
  },
  component: lazyRouteComponent(() => import('./shell/Shell.tsx'), 'Shell'),
});
