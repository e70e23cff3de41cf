import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, redirect } from '@tanstack/react-router';
import { lazyPage } from './lazy-page.ts';
import { RootPage } from './root-page.tsx';
import { oneOf, searchOf } from './search.ts';
import { lacksFactor, sessionQuery } from './session.ts';

export const rootRoute = createRootRouteWithContext<{ readonly queryClient: QueryClient }>()({
  component: RootPage,
});

// The pages for those who have no session.

/** Accepts no URL of another site: `//example.com` is one. */
const pathInside = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\/(?!\/)/.test(value) ? value : undefined;

const signInSearch = searchOf({ next: pathInside, why: oneOf(['ended', 'signed-out', 'new-password']) });

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: signInSearch,
  beforeLoad: async ({ context }) => {
    // The form reports an unreachable server.
    const session = await context.queryClient.ensureQueryData(sessionQuery).catch(() => null);
    if (session) throw redirect({ to: '/' });
  },
  component: lazyPage(() => import('../pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
});

/** For members whose company requires a second factor: they see nothing else before they have one. */
export const secondFactorRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/second-factor',
  beforeLoad: async ({ context }) => {
    const session = await context.queryClient.ensureQueryData({ ...sessionQuery, revalidateIfStale: true });
    if (!session) throw redirect({ to: '/sign-in' });
    if (!lacksFactor(session)) throw redirect({ to: '/' });
  },
  component: lazyPage(() => import('../pages/security/second-factor-page.tsx'), 'SecondFactorPage'),
});

// The tokens of these three are in the fragment of the URL, which browsers send to no server.
export const invitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitation',
  component: lazyPage(() => import('../pages/links/link-pages.tsx'), 'InvitationPage'),
});

export const passwordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/password',
  component: lazyPage(() => import('../pages/links/link-pages.tsx'), 'PasswordPage'),
});

export const sharedRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/shared',
  component: lazyPage(() => import('../pages/deliveries/shared-page.tsx'), 'SharedPage'),
});

export const publicRoutes = [
  signInRoute,
  invitationRoute,
  passwordRoute,
  sharedRoute,
  secondFactorRoute,
] as const;
