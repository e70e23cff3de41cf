import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import * as v from 'valibot';
import { operationQuery } from '../../api/query.ts';
import { shellRoute } from '../../app/shell-route.ts';

export const keysQuery = operationQuery('listApiKeys', {});

export const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  validateSearch: v.object({
    show: v.fallback(v.optional(v.picklist(['revoked'])), undefined),
    dialog: v.fallback(v.optional(v.picklist(['create'])), undefined),
    revoke: v.fallback(v.optional(v.number()), undefined),
  }),
  loader: ({ context }) => void context.queryClient.prefetchQuery(keysQuery),
  component: lazyRouteComponent(() => import('./KeysPage.tsx'), 'KeysPage'),
});
