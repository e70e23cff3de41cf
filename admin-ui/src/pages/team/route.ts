import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { anyNumber, oneOf, searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.ts';
import { teamQuery } from './queries.ts';

export const teamRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/team',
  validateSearch: searchOf({
    dialog: oneOf(['invite']),
    role: anyNumber,
    remove: anyNumber,
    password: anyNumber,
  }),
  loader: ({ context }) => void context.queryClient.prefetchQuery(teamQuery),
  component: lazyRouteComponent(() => import('./team-page.tsx'), 'TeamPage'),
});
