import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import * as v from 'valibot';
import { rootRoute } from '../../app/root-route.tsx';
import { sessionQuery } from '../../app/session.ts';

const search = v.object({
  /** Where to go then, within the portal. */
  next: v.fallback(v.optional(v.pipe(v.string(), v.regex(/^\/(?!\/)/))), undefined),
  why: v.fallback(v.optional(v.picklist(['ended', 'signed-out'])), undefined),
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
  component: lazyRouteComponent(() => import('./SignInPage.tsx'), 'SignInPage'),
});
