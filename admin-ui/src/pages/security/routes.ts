import { createRoute, redirect } from '@tanstack/react-router';
import { ShieldCheck } from 'lucide-react';
import { lazyPage, load } from '../../model/lazy-page.ts';
import { passkeysQuery, sessionsQuery } from '../../model/queries.ts';
import { queryClient } from '../../model/query-client.ts';
import { pageLink, rootRoute, shellRoute } from '../../model/routes.ts';
import { oneOf, searchOf } from '../../model/search.ts';
import { lacksFactor, sessionQuery } from '../../model/session.ts';

export const securityRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/security',
  staticData: pageLink('Company', 'Your security', ShieldCheck, 'viewer', 'password 2fa passkeys sessions'),
  validateSearch: searchOf({
    dialog: oneOf(['name', 'password', 'totp-on', 'totp-off', 'codes', 'others', 'passkey']),
  }),
  loader: () => load(sessionsQuery, passkeysQuery),
  component: lazyPage(() => import('./security-page.tsx'), 'SecurityPage'),
});

/** For members whose company requires a second factor: they see nothing else before they have one. */
export const secondFactorRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/second-factor',
  beforeLoad: async () => {
    const session = await queryClient.ensureQueryData({ ...sessionQuery, revalidateIfStale: true });
    if (!session) throw redirect({ to: '/sign-in' });
    if (!lacksFactor(session)) throw redirect({ to: '/' });
  },
  component: lazyPage(() => import('./second-factor-page.tsx'), 'SecondFactorPage'),
});
