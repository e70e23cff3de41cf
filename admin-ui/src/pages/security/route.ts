import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import * as v from 'valibot';
import { operationQuery } from '../../api/query.ts';
import { shellRoute } from '../../app/shell-route.ts';

export const sessionsQuery = operationQuery('listSessions', {});

export const securityRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/security',
  validateSearch: v.object({
    dialog: v.fallback(
      v.optional(v.picklist(['name', 'password', 'totp-on', 'totp-off', 'codes', 'others'])),
      undefined,
    ),
  }),
  loader: ({ context }) => void context.queryClient.prefetchQuery(sessionsQuery),
  component: lazyRouteComponent(() => import('./SecurityPage.tsx'), 'SecurityPage'),
});
