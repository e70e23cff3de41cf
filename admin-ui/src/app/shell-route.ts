import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { rootRoute } from './root-route.tsx';
import { sessionQuery } from './session.ts';

const loadShell = () => import('./shell/shell.tsx');

/** What lies behind the sign-in. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'in',
  beforeLoad: async ({ context, location }) => {
    // Most who come are signed in: the frame's code is on its way while that is asked.
    void loadShell();
    const session = await context.queryClient.ensureQueryData({ ...sessionQuery, revalidateIfStale: true });
    if (session === null) {
      const next = location.href === '/' ? undefined : location.href;
      throw redirect({ to: '/sign-in', search: { next } });
    }
  },
  component: lazyRouteComponent(loadShell, 'Shell'),
});
