import { createRoute } from '@tanstack/react-router';
import { lazyPage, oneOf, searchOf, shellRoute } from '../../app/routes.tsx';
import { sessionsQuery } from '../queries.ts';

export const securityRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/security',
  validateSearch: searchOf({
    dialog: oneOf(['name', 'password', 'totp-on', 'totp-off', 'codes', 'others']),
  }),
  loader: ({ context }) => void context.queryClient.prefetchQuery(sessionsQuery),
  component: lazyPage(() => import('./security-page.tsx'), 'SecurityPage'),
});
