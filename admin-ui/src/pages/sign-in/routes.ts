import { createRoute, redirect } from '@tanstack/react-router';
import { lazyPage } from '../../model/lazy-page.ts';
import { queryClient } from '../../model/query-client.ts';
import { rootRoute } from '../../model/routes.ts';
import { oneOf, searchOf } from '../../model/search.ts';
import { sessionQuery } from '../../model/session.ts';

/** Accepts no URL of another site: `//example.com` is one. */
const pathInside = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\/(?!\/)/.test(value) ? value : undefined;

const signInSearch = searchOf({ next: pathInside, why: oneOf(['ended', 'signed-out', 'new-password']) });

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: signInSearch,
  beforeLoad: async () => {
    // The form reports an unreachable server.
    const session = await queryClient.ensureQueryData(sessionQuery).catch(() => null);
    if (session) throw redirect({ to: '/' });
  },
  component: lazyPage(() => import('./sign-in-page.tsx'), 'SignInPage'),
});
