import { createRoute, redirect } from '@tanstack/react-router';
import { lazyPage, oneOf, rootRoute, searchOf } from '../../app/routes.tsx';
import { sessionQuery } from '../../app/session.ts';

/** Accepts no URL of another site: `//example.com` is one. */
const pathInside = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\/(?!\/)/.test(value) ? value : undefined;

const search = searchOf({
  /** The path in the portal to open after signing in. */
  next: pathInside,
  why: oneOf(['ended', 'signed-out', 'new-password']),
});

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: search,
  beforeLoad: async ({ context }) => {
    // The form reports an unreachable server.
    const session = await context.queryClient.ensureQueryData(sessionQuery).catch(() => null);
    if (session) throw redirect({ to: '/' });
  },
  component: lazyPage(() => import('./sign-in-page.tsx'), 'SignInPage'),
});
