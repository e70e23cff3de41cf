import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';
import { oneOf, searchOf } from '../../app/search.ts';
import { sessionQuery } from '../../app/session.ts';

/** Never an address of another place: `//example.com` is one. */
const pathInside = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\/(?!\/)/.test(value) ? value : undefined;

const search = searchOf({
  /** Where to go then, within the portal. */
  next: pathInside,
  why: oneOf(['ended', 'signed-out', 'new-password']),
});

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: search,
  beforeLoad: async ({ context }) => {
    // A server that cannot be reached is the form's to tell of.
    const session = await context.queryClient.ensureQueryData(sessionQuery).catch(() => null);
    if (session) throw redirect({ to: '/' });
  },
  component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
});
