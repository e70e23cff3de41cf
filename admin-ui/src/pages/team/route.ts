import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import * as v from 'valibot';
import { operationQuery } from '../../api/query.ts';
import { shellRoute } from '../../app/shell-route.ts';

export const teamQuery = operationQuery('listTeam', {});

export const teamRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/team',
  validateSearch: v.object({
    dialog: v.fallback(v.optional(v.picklist(['invite'])), undefined),
    role: v.fallback(v.optional(v.number()), undefined),
    remove: v.fallback(v.optional(v.number()), undefined),
  }),
  loader: ({ context }) => void context.queryClient.prefetchQuery(teamQuery),
  component: lazyRouteComponent(() => import('./TeamPage.tsx'), 'TeamPage'),
});
